"""Statements about the service itself and about sources as a whole."""

PAUSE = "REPLACE INTO source_pause (source, reason, until, created_at) VALUES (?, ?, ?, ?)"
RESUME = "DELETE FROM source_pause WHERE source = ?"
PAUSED_UNTIL = "SELECT until FROM source_pause WHERE source = ?"

BLOCKED = "REPLACE INTO source_block (source, crawler_id, blocked_at) VALUES (?, ?, ?)"
FORGET_BLOCKS = "DELETE FROM source_block WHERE source = ? AND blocked_at <= ?"
BLOCKED_CRAWLERS = "SELECT COUNT(*) FROM source_block WHERE source = ? AND blocked_at > ?"
COOLDOWN = "SELECT strikes, until FROM source_cooldown WHERE source = ?"
FIRST_COOLDOWN = "INSERT INTO source_cooldown (strikes, until, reason, source) VALUES (?, ?, ?, ?)"
# The `until` that was read: of several who see the same blocks, one lengthens the cool-down.
NEXT_COOLDOWN = "UPDATE source_cooldown SET strikes = ?, until = ?, reason = ? WHERE source = ? AND until = ?"
END_COOLDOWN = "DELETE FROM source_cooldown WHERE source = ?"

CLOSURES = """
SELECT 'paused', reason, until FROM source_pause WHERE source = ? AND (until IS NULL OR until > ?)
UNION ALL
SELECT 'cooling down', reason, until FROM source_cooldown WHERE source = ? AND until > ?
"""

LAST_ALIVE = "SELECT alive_at FROM service_state WHERE id = 1"
FIRST_ALIVE = "INSERT INTO service_state (id, alive_at) VALUES (1, ?)"
STILL_ALIVE = "UPDATE service_state SET alive_at = ? WHERE id = 1 AND alive_at = ?"

DATABASE_TIME_MYSQL = "SELECT UTC_TIMESTAMP(6)"

# A server that is no Galera node has none of them, or has wsrep_on OFF.
GALERA_SETTINGS_MYSQL = "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_sync_wait')"
