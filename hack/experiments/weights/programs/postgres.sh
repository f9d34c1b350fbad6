bin=$(echo /usr/lib/postgresql/*/bin)
$bin/initdb -D /scratch/data -A trust --no-sync >/dev/null
$bin/pg_ctl -D /scratch/data -l /scratch/log -w -o "-k /scratch -c listen_addresses=''" start >/dev/null
psql -h /scratch -q postgres <<'END'
CREATE TABLE orders AS SELECT i AS id, i % 500 AS customer, md5(i::text) AS note FROM generate_series(1, 40000) i;
ANALYZE orders;
END
cat >/scratch/query.sql <<'END'
\set c random(0, 499)
SELECT count(*), max(note) FROM orders WHERE customer = :c;
UPDATE orders SET note = md5(note) WHERE id = :c;
\sleep 5 ms
END
