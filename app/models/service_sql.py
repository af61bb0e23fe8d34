"""Statements about the service itself and about sources as a whole."""

PAUSE = "REPLACE INTO source_pause (source, reason, until, created_at) VALUES (?, ?, ?, ?)"
RESUME = "DELETE FROM source_pause WHERE source = ?"
ACTIVE_PAUSE = "SELECT reason, until FROM source_pause WHERE source = ? AND (until IS NULL OR until > ?)"

LAST_ALIVE = "SELECT alive_at FROM service_state WHERE id = 1"
FIRST_ALIVE = "INSERT INTO service_state (id, alive_at) VALUES (1, ?)"
STILL_ALIVE = "UPDATE service_state SET alive_at = ? WHERE id = 1 AND alive_at = ?"

DATABASE_TIME_MYSQL = "SELECT UTC_TIMESTAMP(6)"
