"""The command line: ``main`` and one file a verb. Nothing heavy is imported before it is needed."""
