"""Gates: each observes the machine and returns facts; judging is elsewhere."""
