# bash completion for shardfs(8)

_shardfs()
{
	local cur prev options
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}

	case $prev in
	--cache-dir | --env-file | --ca-bundle | --sse-c-key-file | \
		--log-file | --metrics-file | --price-table)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--verify)
		mapfile -t COMPREPLY < <(compgen -W 'once always never' -- "$cur")
		return
		;;
	--log-level)
		mapfile -t COMPREPLY < <(
			compgen -W 'error warn info debug' -- "$cur")
		return
		;;
	--uid)
		mapfile -t COMPREPLY < <(compgen -u -- "$cur")
		return
		;;
	--gid)
		mapfile -t COMPREPLY < <(compgen -g -- "$cur")
		return
		;;
	esac

	if [[ $cur == -* ]]; then
		# The help is printed from the table of options.
		options=$(shardfs --help 2>/dev/null |
			sed -n '/not in this version/d; s/^  \(--[a-z-]*\).*/\1/p')
		mapfile -t COMPREPLY < <(
			compgen -W "$options --help --version" -- "$cur")
	elif ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(
			compgen -W 'stats ls cat s3:// file:///' -- "$cur"
			compgen -f -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
	fi
}
complete -o filenames -o nospace -F _shardfs shardfs
