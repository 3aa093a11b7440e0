"""What the whole-mount tests, the demo and the bench share."""
