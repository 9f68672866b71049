"""Patterns over several rows: how fast they are detected, in a batch and in a stream, and what a stream keeps."""
