"""Crawl state of keywords, the history of their days, pauses of sources, and the service's sign of life.

Each step is left out where it is done already: MySQL commits every ALTER TABLE by itself, so that a migration that was
killed half-way has to go on from where it stood.
"""

from tortoise import BaseDBAsyncClient

RUN_IN_TRANSACTION = True

KEYWORD_TABLES = ("boss_keyword", "qcwy_keyword", "zhilian_keyword")

MYSQL_TEXT = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
MYSQL_COLUMNS = {
    "crawl_status": f"VARCHAR(20) {MYSQL_TEXT} NOT NULL DEFAULT 'idle'",
    "last_completed_page": "INT NOT NULL DEFAULT 0",
    "total_pages": "INT",
    "jobs_found": "INT NOT NULL DEFAULT 0",
    "crawl_started_at": "DATETIME(6)",
    "crawl_finished_at": "DATETIME(6)",
    "crawler_id": f"VARCHAR(100) {MYSQL_TEXT}",
    "error_message": f"VARCHAR(1000) {MYSQL_TEXT} NOT NULL DEFAULT ''",
    "retry_count": "INT NOT NULL DEFAULT 0",
    "retry_at": "DATETIME(6)",
    "claim_token": f"VARCHAR(32) {MYSQL_TEXT} NOT NULL DEFAULT ''",
    "claim_page": "INT NOT NULL DEFAULT 0",
    "lease_expires_at": "DATETIME(6)",
}
SQLITE_COLUMNS = {
    "crawl_status": "VARCHAR(20) NOT NULL DEFAULT 'idle'",
    "last_completed_page": "INT NOT NULL DEFAULT 0",
    "total_pages": "INT",
    "jobs_found": "INT NOT NULL DEFAULT 0",
    "crawl_started_at": "TIMESTAMP",
    "crawl_finished_at": "TIMESTAMP",
    "crawler_id": "VARCHAR(100)",
    "error_message": "VARCHAR(1000) NOT NULL DEFAULT ''",
    "retry_count": "INT NOT NULL DEFAULT 0",
    "retry_at": "TIMESTAMP",
    "claim_token": "VARCHAR(32) NOT NULL DEFAULT ''",
    "claim_page": "INT NOT NULL DEFAULT 0",
    "lease_expires_at": "TIMESTAMP",
}

WAITING = ("crawl_status", "last_requested_date", "retry_at")
UNASKED = ("last_requested_date",)
LEASES = ("crawl_status", "lease_expires_at")
CRAWLER = ("crawler_id",)
INDEXES = {
    "boss_keyword": {
        "idx_boss_keywor_crawl_s_ad029d": WAITING,
        "idx_boss_keywor_last_re_17bb50": UNASKED,
        "idx_boss_keywor_crawl_s_fb330c": LEASES,
        "idx_boss_keywor_crawler_fb7e5f": CRAWLER,
    },
    "qcwy_keyword": {
        "idx_qcwy_keywor_crawl_s_8bf5ab": WAITING,
        "idx_qcwy_keywor_last_re_4380d5": UNASKED,
        "idx_qcwy_keywor_crawl_s_c8b0c2": LEASES,
        "idx_qcwy_keywor_crawler_830c47": CRAWLER,
    },
    "zhilian_keyword": {
        "idx_zhilian_key_crawl_s_9e8f2e": WAITING,
        "idx_zhilian_key_last_re_eb06ec": UNASKED,
        "idx_zhilian_key_crawl_s_6a8940": LEASES,
        "idx_zhilian_key_crawler_914b66": CRAWLER,
    },
}

MYSQL_TABLES = {
    "keyword_history": f"""
CREATE TABLE `keyword_history` (
    `id` BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT,
    `source` VARCHAR(20) NOT NULL,
    `keyword_id` BIGINT NOT NULL,
    `business_date` DATE NOT NULL,
    `city` VARCHAR(255) NOT NULL,
    `job` VARCHAR(255) NOT NULL,
    `state` VARCHAR(20) NOT NULL,
    `last_completed_page` INT NOT NULL,
    `total_pages` INT,
    `jobs_found` INT NOT NULL,
    `retry_count` INT NOT NULL,
    `crawler_id` VARCHAR(100),
    `error_message` VARCHAR(1000) NOT NULL,
    `crawl_started_at` DATETIME(6),
    `crawl_finished_at` DATETIME(6),
    `created_at` DATETIME(6) NOT NULL,
    UNIQUE KEY `uid_keyword_his_source_6fbcaf` (`source`, `keyword_id`, `business_date`),
    KEY `idx_keyword_his_source_310744` (`source`, `business_date`, `state`)
) {MYSQL_TEXT};""",
    "source_pause": f"""
CREATE TABLE `source_pause` (
    `source` VARCHAR(20) NOT NULL PRIMARY KEY,
    `reason` VARCHAR(1000) NOT NULL,
    `until` DATETIME(6),
    `created_at` DATETIME(6) NOT NULL
) {MYSQL_TEXT};""",
    "service_state": f"""
CREATE TABLE `service_state` (
    `id` SMALLINT NOT NULL PRIMARY KEY,
    `alive_at` DATETIME(6) NOT NULL
) {MYSQL_TEXT};""",
}
SQLITE_TABLES = """
CREATE TABLE IF NOT EXISTS "keyword_history" (
    "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    "source" VARCHAR(20) NOT NULL,
    "keyword_id" BIGINT NOT NULL,
    "business_date" DATE NOT NULL,
    "city" VARCHAR(255) NOT NULL,
    "job" VARCHAR(255) NOT NULL,
    "state" VARCHAR(20) NOT NULL,
    "last_completed_page" INT NOT NULL,
    "total_pages" INT,
    "jobs_found" INT NOT NULL,
    "retry_count" INT NOT NULL,
    "crawler_id" VARCHAR(100),
    "error_message" VARCHAR(1000) NOT NULL,
    "crawl_started_at" TIMESTAMP,
    "crawl_finished_at" TIMESTAMP,
    "created_at" TIMESTAMP NOT NULL,
    CONSTRAINT "uid_keyword_his_source_6fbcaf" UNIQUE ("source", "keyword_id", "business_date")
);
CREATE INDEX IF NOT EXISTS "idx_keyword_his_source_310744" ON "keyword_history" ("source", "business_date", "state");
CREATE TABLE IF NOT EXISTS "source_pause" (
    "source" VARCHAR(20) PRIMARY KEY NOT NULL,
    "reason" VARCHAR(1000) NOT NULL,
    "until" TIMESTAMP,
    "created_at" TIMESTAMP NOT NULL
);
CREATE TABLE IF NOT EXISTS "service_state" (
    "id" SMALLINT PRIMARY KEY NOT NULL,
    "alive_at" TIMESTAMP NOT NULL
);"""
NEW_TABLES = ("keyword_history", "source_pause", "service_state")


async def upgrade(db: BaseDBAsyncClient) -> str:
    if db.capabilities.dialect == "mysql":
        return await _mysql_upgrade(db)
    return await _sqlite_upgrade(db)


async def downgrade(db: BaseDBAsyncClient) -> str:
    if db.capabilities.dialect == "mysql":
        return await _mysql_downgrade(db)
    return await _sqlite_downgrade(db)


async def _mysql_upgrade(db: BaseDBAsyncClient) -> str:
    statements = []
    for table in KEYWORD_TABLES:
        columns = await _mysql_columns(db, table)
        indexes = await _mysql_indexes(db, table)
        changes = await _mysql_storage(db, table)
        changes += [change for name in ("city", "job") for change in _mysql_name_column(name, columns[name])]
        changes += [f"ADD COLUMN `{name}` {kind}" for name, kind in MYSQL_COLUMNS.items() if name not in columns]
        changes += [
            f"ADD INDEX `{name}` ({', '.join(fields)})"
            for name, fields in INDEXES[table].items()
            if name not in indexes
        ]
        if changes:
            # One ALTER a table: it is done as a whole or not at all.
            statements.append(f"ALTER TABLE `{table}` {', '.join(changes)};")
    there = await _mysql_tables(db)
    statements += [statement for table, statement in MYSQL_TABLES.items() if table not in there]
    return "\n".join(statements) or "SELECT 1"


async def _mysql_storage(db: BaseDBAsyncClient, table: str) -> list[str]:
    """The change that a table from an old server needs, for transactions and for indexes of more than 767 bytes."""
    rows = await db.execute_query_dict(
        "SELECT ENGINE AS engine, ROW_FORMAT AS row_format"
        " FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
        [table],
    )
    if rows[0]["engine"] in {"MyISAM", "Aria"} or rows[0]["row_format"] in {"Compact", "Redundant"}:
        return ["ENGINE=InnoDB", "ROW_FORMAT=DYNAMIC"]
    return []


def _mysql_name_column(name: str, column: dict[str, object]) -> list[str]:
    """The change that lets an older city or job column hold and tell apart what SQLite does; none where it can."""
    length = int(str(column["length"]))
    if column["collation"] == "utf8mb4_bin" and length >= 255:
        return []
    return [f"MODIFY COLUMN `{name}` VARCHAR({max(length, 255)}) {MYSQL_TEXT} NOT NULL"]


async def _mysql_downgrade(db: BaseDBAsyncClient) -> str:
    statements = []
    for table in KEYWORD_TABLES:
        columns = await _mysql_columns(db, table)
        indexes = await _mysql_indexes(db, table)
        changes = [f"DROP INDEX `{name}`" for name in INDEXES[table] if name in indexes]
        changes += [f"DROP COLUMN `{name}`" for name in MYSQL_COLUMNS if name in columns]
        if changes:
            statements.append(f"ALTER TABLE `{table}` {', '.join(changes)};")
    there = await _mysql_tables(db)
    statements += [f"DROP TABLE `{table}`;" for table in NEW_TABLES if table in there]
    return "\n".join(statements) or "SELECT 1"


async def _mysql_tables(db: BaseDBAsyncClient) -> set[str]:
    rows = await db.execute_query_dict(
        "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
    )
    return {row["name"] for row in rows}


async def _mysql_columns(db: BaseDBAsyncClient, table: str) -> dict[str, dict[str, object]]:
    rows = await db.execute_query_dict(
        "SELECT COLUMN_NAME AS name, COLLATION_NAME AS collation, CHARACTER_MAXIMUM_LENGTH AS length"
        " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
        [table],
    )
    return {row["name"]: row for row in rows}


async def _mysql_indexes(db: BaseDBAsyncClient, table: str) -> set[str]:
    rows = await db.execute_query_dict(
        "SELECT DISTINCT INDEX_NAME AS name"
        " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s",
        [table],
    )
    return {row["name"] for row in rows}


async def _sqlite_upgrade(db: BaseDBAsyncClient) -> str:
    statements = []
    for table in KEYWORD_TABLES:
        columns = await _sqlite_columns(db, table)
        statements += [
            f'ALTER TABLE "{table}" ADD COLUMN "{name}" {kind};'
            for name, kind in SQLITE_COLUMNS.items()
            if name not in columns
        ]
        statements += [
            f'CREATE INDEX IF NOT EXISTS "{name}" ON "{table}" ({", ".join(fields)});'
            for name, fields in INDEXES[table].items()
        ]
    return "\n".join(statements) + SQLITE_TABLES


async def _sqlite_downgrade(db: BaseDBAsyncClient) -> str:
    statements = []
    for table in KEYWORD_TABLES:
        columns = await _sqlite_columns(db, table)
        statements += [f'DROP INDEX IF EXISTS "{name}";' for name in INDEXES[table]]
        statements += [f'ALTER TABLE "{table}" DROP COLUMN "{name}";' for name in SQLITE_COLUMNS if name in columns]
    statements += [f'DROP TABLE IF EXISTS "{table}";' for table in NEW_TABLES]
    return "\n".join(statements)


async def _sqlite_columns(db: BaseDBAsyncClient, table: str) -> set[str]:
    return {row["name"] for row in await db.execute_query_dict(f"PRAGMA table_info('{table}')")}


MODELS_STATE = (
    "eJztXW1v2zYQ/iuEvqwDvMJ1Xtd9crpsydYkXWNsQ4tCpSXa5iKTLknV9br895GUFFmypN"
    "ixk8rWfQmc4x0lPUcej7qH9ldnzH0SyOcnXMrfyWzKhe+8RF8dhsdEfyhqbiEHTyZpoxEo"
    "3A+sfl8rujdzmn2pBPaUbhvgQBIt8on0BJ0oypmWsjAIjJB7WpGyYSoKGf0UElfxIVEjIn"
    "TD+/eOR9XM9PsP7zsfPugPlPnkC5Gm9aszoCTw7WfHE3gauFJhFdo7DLBUriC6R6mI7/pY"
    "ESMWRImZi5Vj+iJfJoJIqW/M9mFEMQ7xLanZxD6lY5X1g9l/blsoc+miS22w+4UnI1gSV3"
    "dOde8bfhR7LSJc6q/Vq1Gc3Li248zwonaQWLmb2J7Q4TlTv1hdMzL6rseDcMxS/clMjTi7"
    "M6BMGemQMCI01uYKSoRmqJm7ikdmMvqiUZWqRONnzsYnAxwGam5o9t1U5rju5VXPvT7tua"
    "6zwmD2NGQaDn2r0gIwNLfww4+dzt7eUae9d3h8sH90dHDcPrYO1W2LTUe30c2kaEVdWczO"
    "fz2/7Jkb4nq2RVPRCG6tDVbYTZ2aop9Mpiz+r0ZYFKOf6Ofw1w+Wxz9Bu8oBiSD1QBohns"
    "IFY/zFDQgbqpH+t3NwUAHvn923r866b59pre+zIF/GTZ2o7dZOoARfE6RWgDdWB3SXQ7ck"
    "omfR/llLi9EuMc+hb8SKjsnzpP0eP8RBpC5uqED9527vtBpRrIrxNHgshWnUQRWi5sNOod"
    "o7vzi97nUv3pjux1J+ChKsTUvHSmc56bPD3LC/6wT9dd47Q+Zf9O7q8tSiyaUaCnvFVK/3"
    "zqzcDg4VdxmfutifxyQRJ6KMz/PZxGKwOmXh2Lr7XIOAmUcW14VcH08XwXRCECT3UyTN+N"
    "cxd0gQHyCdTyIzVpEXYDp2HhLR2ssEtHZ5PGsXhjOPjycBMXNngocF4aw0MSqxvj9T2pQn"
    "2nkntNfOjjov9o/2j/cO9++SojtJVS6U5D0ptIorHFhMCoZ4KaQ5qwdBWbPAtWlgdcYi3Q"
    "EPWUEaX4pr1ghGaCaCioctvEX2sO7Wf90dUEblaA2X5zoAn9fe59HblMJMq8LRd1YPyq1q"
    "5tNsKvWivUwupbVKkynblg2oRAgu3DGRsjCPKkd7wfAJk9nFRHaTIC+JciXMCzhH7089vZ"
    "oXBLDSFCBnBTlACsrqC8G8HcT/Wsd/s9t0Fb8hbKUFIGu2GwFpr7NEONrrlAYj03RbgO6K"
    "++asEQQiI1koKK0YkIrsITDVOjAJgh+68Zy33ICXa1fI0A/oX7FgFo/ALXF7PFkqvR5O/A"
    "d6PWsJXq+L1wsmu717U38f3MzVgI2gj72bKRa+u9DCO7xMd7Fp3BnnJZjp9dSPwTW3GbNI"
    "YgbJGZWKi5lTwDPJabSqqCYxy8QdzSnfxzZxzvgUcUZQbPydRHZ7bYoCRjwxRQEfzxDR48"
    "5voamgShGGpiP9B6OBdsMoKhoYC4wCPaSFNdAtRElbWYj7fp6vKzz5xQsZNJKHIqrhJABG"
    "Lxb6oaRMb3tjvkoVtybtImvUiksswBXZPa5I6vNlty2pxS4yGjZe/8vOxuWHedbu6XYwOz"
    "LiUwcsxLJlmSQLhmtySOrmjtVIJEAqA1LZ9qIb5S+rrHKqeNLvBMJActlaagZwXoDzslW4"
    "blklcYuQBdoB0A5qgvijcBCAPNe8ehWQ55rnc6hR7qiba1Ke+sObzirOQM83t6oKU5+0Ip"
    "yBhjPQLahr1eUtP5yBhtfVu4gunIGGM9C1Q3Urck44Aw1noJtE6oZ6ENSD6j1C4TVuM9dd"
    "eI3bOJ9DMRKKkXAGGs5Awxno5sV/OAMNZ6DrH4jgDHTjAhPwC3bsNCycgW6i1wsme53OQL"
    "8b0YBiVsEzyWm0qqgm/0a6wDYBtkkL2CbANqn3ggJsk+1GF9gmwDapHao1zz2BbQJsk+a9"
    "PgO2CbBN6j1CgW3SzHUX2CaN8zmwTYBtAmwTYJsA26R58R/YJsA2qX8gArZJ4wITsE12jH"
    "cAbJMmer3mbJNrIj5Tj1zbLykt4Jpk2ltVTBMZabp333d6/3ftXzGCBJ++TF/+SzpkphoQ"
    "0IGtCmA2Q6ZjItBEcE9vAVuoP0PTEfVGuhHxUOnnQlQiQTw+ZFSSgq/Vf8TrFDBichSYlY"
    "gW12McBGtTLZaZzXXgWux1jg7vMiPzT1VSdH3Rff36fgIFDuhn8oD4OW+3g9Fze6NltEjW"
    "JVzanyx4g0NZHC3nmquDpVXUm5xE895Y2UWRjY5hWNmQNDHjjws0whLZjvyfEOMm0LWQFn"
    "8MmaLBR0SZDXvmt0P043AV6y5GyUe5whrx8dv/oMS3jZGPUtwuD5w6vZJ8pZcgqcUO8qMe"
    "6+2snTMrJ/eJEezZ67YwwZ69EW6uSf7RJULvSIpSj7ilMuvAqc5GzwCss+NpCq98zVfB5e"
    "u23rMa9v8qC/ecyQ6u3I/CbDaTagWEY/UdRPdRqAH6iooUlat/u766LFkxU5P8ckk9hf5D"
    "AZXb+NsOFeAaMDJrZILps4vu33m4X72+OskvfqaDEw39N13Mbv8HQJH6PA=="
)
