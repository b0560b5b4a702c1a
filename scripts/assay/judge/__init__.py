"""Judging: facts against a plan, pure, by every reader anew.  Standard library only."""
