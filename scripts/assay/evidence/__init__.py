"""Evidence: journal, receipts, bundle, verification.  Standard library only, no process, no network."""
