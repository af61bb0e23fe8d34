"""How fast the service is, against a yardstick that is measured in the same run: `make bench`, results in docs."""
