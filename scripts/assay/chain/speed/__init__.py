"""The chain made fast and measured, hop by hop and whole, beside floors and documentation-style code."""
