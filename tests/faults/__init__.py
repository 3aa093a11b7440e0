"""A scripted S3 server: right by default, wrong exactly where it is told to."""
