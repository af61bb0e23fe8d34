"""The statements of the state machine, all of them, with `{table}` for a source's keyword table.

Three rules hold for each UPDATE:
* It names in its WHERE what has to be true, so that its row count tells who was first. Nothing is read, then written.
* One for several keywords finds them by id alone, because each row that is read is locked: COALESCE hides columns that
  other indexes hold. What differs between them is given as CASE id WHEN … THEN ….
* MySQL and MariaDB evaluate SET from left to right and see the values set so far, SQLite sees the old ones: whatever an
  expression reads is assigned after it. That is why `crawl_status` comes last and `retry_at` before `retry_count`.
"""

from functools import cache

COLUMNS = (
    "id, city, job, crawl_status, last_requested_date, last_completed_page, claim_page, total_pages, jobs_found,"
    " retry_count, retry_at, claim_token, crawler_id, lease_expires_at, error_message, crawl_started_at,"
    " crawl_finished_at"
)


def by_id(number: int) -> str:
    """A value for each keyword, with the parameters id, value, id, value …"""
    return f"CASE id{' WHEN ? THEN ?' * number} END"


def is_one_of(number: int) -> str:
    """Keywords by id, with their ids as parameters."""
    return f"id IN ({', '.join('?' * number)})"


def any_of(condition: str, number: int) -> str:
    return " OR ".join([f"({condition})"] * number)


READ = f"SELECT {COLUMNS} FROM {{table}} WHERE id = ?"

# --- claims -----------------------------------------------------------------------------------------------------------
# Each arm reads a few rows in the order of an index, so that a claim costs the same in a table of any size. Arms, with
# their parameters: partial today (today, n) · partial without a date, as people set it by hand (n) · stale today
# (now, today, max_retries, n) · failed today with tries left and back-off over (today, now, max_retries, n) · never
# requested (now, n) · last requested before today and not alive (today, now, n).
# A row comes as one JSON text: to read seventeen columns takes the driver longer than the database needs for the query.
CANDIDATE_ARMS = (
    "crawl_status = 'partial' AND last_requested_date = ? ORDER BY retry_at, id",
    "crawl_status = 'partial' AND last_requested_date IS NULL ORDER BY retry_at, id",
    "crawl_status = 'crawling' AND lease_expires_at <= ? AND last_requested_date = ?"
    " AND (last_completed_page > claim_page OR retry_count + 1 < ?) ORDER BY lease_expires_at, id",
    "crawl_status = 'failed' AND last_requested_date = ? AND (retry_at IS NULL OR retry_at <= ?)"
    " AND retry_count < ? ORDER BY retry_at, id",
    "last_requested_date IS NULL AND COALESCE(crawl_status, '') <> 'partial'"
    " AND (COALESCE(crawl_status, '') <> 'crawling' OR lease_expires_at IS NULL OR lease_expires_at <= ?) ORDER BY id",
    "last_requested_date < ?"
    " AND (COALESCE(crawl_status, '') <> 'crawling' OR lease_expires_at IS NULL OR lease_expires_at <= ?)"
    " ORDER BY last_requested_date, id",
)
CANDIDATES_SQLITE = " UNION ALL ".join(
    f"SELECT * FROM (SELECT JSON_ARRAY({COLUMNS}) FROM {{table}} WHERE {arm} LIMIT ?)" for arm in CANDIDATE_ARMS
)
# MySQL guesses that rows without a date lie all over the table and would walk it by id until it meets some, which may
# be at its very end, and in a UNION it forgets the LIMIT and sorts the table: the two arms with the most rows are told
# their index, and COALESCE keeps them from others. In subqueries it would do better, but write each to a table first.
CANDIDATES_MYSQL = " UNION ALL ".join(
    f"(SELECT JSON_ARRAY({COLUMNS}) FROM {{table}} {hint} WHERE {arm} LIMIT ?)"
    for arm, hint in zip(CANDIDATE_ARMS, [""] * 4 + ["FORCE INDEX FOR ORDER BY ({by_date})"] * 2, strict=True)
)

# Whoever reads the same row at the same time names the same state here: one of them matches, the others match nothing.
AS_IT_WAS_READ = (
    "id = ? AND claim_token = ? AND COALESCE(crawl_status, '') = ? AND last_completed_page = ? AND jobs_found = ?"
    " AND retry_count = ?"
)


@cache
def claim(number: int, *, fresh: bool) -> str:
    """Claims of keywords of which all begin anew, or all go on where they stand."""
    if fresh:
        begin = (
            "last_completed_page = 0, claim_page = 0, total_pages = NULL, jobs_found = 0, error_message = '',"
            " retry_count = 0"
        )
    else:
        begin = f"claim_page = last_completed_page, retry_count = {by_id(number)}"
    return f"""
UPDATE {{table}} SET
  last_requested_date = ?, last_requested_at = ?, crawl_started_at = ?, crawl_finished_at = NULL, retry_at = NULL,
  lease_expires_at = ?, updated_at = ?, {begin},
  crawler_id = {by_id(number)}, claim_token = {by_id(number)}, crawl_status = ?
WHERE ({any_of(AS_IT_WAS_READ, number)})
  AND (COALESCE(crawl_status, '') <> 'crawling' OR lease_expires_at IS NULL OR lease_expires_at <= ?)
"""


@cache
def tokens_of(number: int) -> str:
    return f"SELECT id, claim_token FROM {{table}} WHERE {is_one_of(number)}"


@cache
def keep_history(number: int) -> str:
    """REPLACE is the one upsert that SQLite and MySQL spell alike."""
    values = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    return f"""
REPLACE INTO keyword_history (
  source, keyword_id, business_date, city, job, state, last_completed_page, total_pages, jobs_found, retry_count,
  crawler_id, error_message, crawl_started_at, crawl_finished_at, created_at
) VALUES {", ".join([values] * number)}
"""


# --- reports ----------------------------------------------------------------------------------------------------------
# A claim is held while its keyword is being crawled, and by its token also after a sweep (which leaves the lease),
# until somebody else takes the keyword. An untracked keyword is held by the spider that took it.
HELD_BY_TOKEN = (
    "(crawl_status IN ('crawling', 'idle') OR (crawl_status IN ('partial', 'failed') AND lease_expires_at IS NOT NULL))"
    " AND claim_token = ?"
)
# Without a token an untracked keyword is held by a claim of today, or one no older than a lease: (today, now - lease).
HELD_BY_ANYONE = (
    "(crawl_status = 'crawling' OR (crawl_status = 'idle' AND (last_requested_date = ? OR last_requested_at > ?)))"
)
AND_BY_CRAWLER = " AND crawler_id = ?"

# A sweep that counted a silent claim as failed is taken back when that claim comes back to life.
REVIVED = "retry_count = retry_count - (crawl_status = 'failed'), crawl_finished_at = NULL, retry_at = NULL"

PROGRESS = f"""
UPDATE {{table}} SET
  jobs_found = jobs_found + ?, total_pages = COALESCE(?, total_pages), error_message = '',
  crawl_started_at = COALESCE(crawl_started_at, last_requested_at), {REVIVED},
  lease_expires_at = ?, updated_at = ?, last_completed_page = ?, crawl_status = 'crawling'
WHERE id = ? AND last_completed_page < ? AND {{held}}
"""

RENEW = f"""
UPDATE {{table}} SET
  error_message = CASE WHEN crawl_status = 'crawling' THEN error_message ELSE '' END,
  crawl_started_at = COALESCE(crawl_started_at, last_requested_at), {REVIVED},
  lease_expires_at = ?, updated_at = ?, crawl_status = 'crawling'
WHERE id = ? AND {{held}}
"""

# By crawler only what is being crawled: a claim that a sweep ended may belong to an earlier life of the same crawler.
RENEW_ALL = """
UPDATE {table} SET lease_expires_at = ?, updated_at = ? WHERE crawler_id = ? AND crawl_status = 'crawling'
"""

COMPLETE = """
UPDATE {table} SET
  retry_count = retry_count - (crawl_status = 'failed'), error_message = ?, retry_at = NULL, lease_expires_at = NULL,
  crawl_started_at = COALESCE(crawl_started_at, last_requested_at), crawl_finished_at = ?, updated_at = ?,
  crawl_status = 'completed'
WHERE id = ? AND {held}
"""

# Parameters of retry_at: max_retries, start of tomorrow, end of the back-off.
FAIL = """
UPDATE {table} SET
  retry_at = CASE WHEN retry_count + (crawl_status <> 'failed') >= ? THEN ? ELSE ? END,
  retry_count = retry_count + (crawl_status <> 'failed'), error_message = ?, lease_expires_at = NULL,
  crawl_started_at = COALESCE(crawl_started_at, last_requested_at), crawl_finished_at = ?, updated_at = ?,
  crawl_status = 'failed'
WHERE id = ? AND {held}
"""

# --- reports of several keywords --------------------------------------------------------------------------------------
# All of them hold their keyword by the token of a crawl under way: nothing is revived.
HOLDER = "id = ? AND claim_token = ? AND COALESCE(?, crawler_id) = crawler_id"


@cache
def progress_together(number: int) -> str:
    return f"""
UPDATE {{table}} SET
  jobs_found = jobs_found + {by_id(number)}, total_pages = COALESCE({by_id(number)}, total_pages), error_message = '',
  lease_expires_at = ?, updated_at = ?, last_completed_page = {by_id(number)}
WHERE COALESCE(crawl_status, '') = 'crawling' AND ({any_of(f"{HOLDER} AND last_completed_page < ?", number)})
"""


@cache
def renew_together(number: int) -> str:
    return f"""
UPDATE {{table}} SET lease_expires_at = ?, updated_at = ?
WHERE COALESCE(crawl_status, '') = 'crawling' AND ({any_of(HOLDER, number)})
"""


@cache
def complete_together(number: int) -> str:
    return f"""
UPDATE {{table}} SET
  error_message = {by_id(number)}, retry_at = NULL, lease_expires_at = NULL, crawl_finished_at = ?, updated_at = ?,
  crawl_status = 'completed'
WHERE COALESCE(crawl_status, '') = 'crawling' AND ({any_of(HOLDER, number)})
"""


@cache
def counts_of(number: int) -> str:
    return f"SELECT id, last_completed_page, retry_count FROM {{table}} WHERE {is_one_of(number)}"


RELEASE = """
UPDATE {table} SET
  retry_count = retry_count - (crawl_status = 'failed'), error_message = ?, retry_at = ?, lease_expires_at = NULL,
  crawl_finished_at = ?, updated_at = ?, crawl_status = 'partial'
WHERE {claims}
"""
CLAIMS_OF_CRAWLER = "crawler_id = ? AND crawl_status = 'crawling'"

# A claim that ends without word: partial when it brought a page, else a failed try. Parameters: now, max_retries, start
# of tomorrow, end of the back-off, message when partial, message when failed, now, now.
ENDED_IN_SILENCE = """
UPDATE {table} SET
  retry_at = CASE WHEN last_completed_page > claim_page THEN ?
                  WHEN retry_count + (crawl_status <> 'failed') >= ? THEN ? ELSE ? END,
  retry_count = retry_count + (crawl_status <> 'failed' AND last_completed_page <= claim_page),
  error_message = CASE WHEN last_completed_page > claim_page THEN ? ELSE ? END,
  crawl_finished_at = ?, updated_at = ?,{lease}
  crawl_status = CASE WHEN last_completed_page > claim_page THEN 'partial' ELSE 'failed' END
WHERE {claims}
"""
LEASE_ENDS = " lease_expires_at = NULL,"

# --- sweep ------------------------------------------------------------------------------------------------------------
STALE = """
SELECT id FROM {table}
WHERE crawl_status = 'crawling' AND (lease_expires_at IS NULL OR lease_expires_at <= ?) LIMIT ?
"""
# By primary key: an UPDATE over a range of the index would lock what lies between as well.
STALE_CLAIMS = "{ids} AND crawl_status = 'crawling' AND (lease_expires_at IS NULL OR lease_expires_at <= ?)"

# Parameters: grace end, last sign of life before the outage, grace end.
PROLONG_AFTER_OUTAGE = """
UPDATE {table} SET lease_expires_at = ?
WHERE crawl_status = 'crawling' AND lease_expires_at > ? AND lease_expires_at < ?
"""

# --- counts -----------------------------------------------------------------------------------------------------------
# One statement, so that the counts are of one instant. Parameters: day, source, day.
COUNTS = """
SELECT crawl_status, COUNT(*) FROM {table}
WHERE crawl_status IN ('idle', 'crawling', 'completed', 'failed', 'partial') AND last_requested_date = ?
GROUP BY crawl_status
UNION ALL
SELECT state, COUNT(*) FROM keyword_history WHERE source = ? AND business_date = ? GROUP BY state
UNION ALL
SELECT 'total', COUNT(*) FROM {table}
"""

# --- the work list ----------------------------------------------------------------------------------------------------
EXISTING = "SELECT city, job FROM {table} WHERE {names}"
THIS_NAME = "(city = ? AND job = ?)"  # joined by OR: SQLite and MySQL write a list of pairs differently
INSERT = "INSERT INTO {table} (city, job, created_at, updated_at) VALUES {rows}"
