/* Runs a fuzz target over the files of a corpus: corpus DIR. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define MAX_SIZE (1 << 20)

static int run_file(const char *directory, const char *name)
{
	char path[4096];
	uint8_t *data = malloc(MAX_SIZE);

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "rb");
	if (file == NULL || data == NULL) {
		perror(path);
		return 1;
	}
	const size_t size = fread(data, 1, MAX_SIZE, file);
	/* A buffer of just this size, so that a byte beyond it is noticed. */
	uint8_t *exact = realloc(data, size > 0 ? size : 1);
	(void)LLVMFuzzerTestOneInput(exact != NULL ? exact : data, size);
	free(exact != NULL ? exact : data);
	fclose(file);
	return 0;
}

int main(int argc, char **argv)
{
	DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
	unsigned files = 0;

	if (directory == NULL) {
		fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
		return 2;
	}
	for (struct dirent *entry = readdir(directory); entry != NULL;
			entry = readdir(directory)) {
		if (entry->d_name[0] == '.') {
			continue;
		}
		if (run_file(argv[1], entry->d_name) != 0) {
			return 1;
		}
		files++;
	}
	closedir(directory);
	printf("%u files\n", files);
	return files > 0 ? 0 : 1;
}
