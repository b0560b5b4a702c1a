"""Commands: each module has ``run(options) -> exit code`` and is imported only when it is called."""
