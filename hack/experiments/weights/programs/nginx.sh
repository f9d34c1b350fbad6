mkdir -p /scratch/logs /scratch/html
head -c 300000 /usr/bin/python3.11 | od -c >/scratch/html/page.txt
cat >/scratch/nginx.conf <<'END'
worker_processes 1;
daemon off;
pid /scratch/nginx.pid;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path /scratch/body; proxy_temp_path /scratch/proxy; fastcgi_temp_path /scratch/fastcgi;
  uwsgi_temp_path /scratch/uwsgi; scgi_temp_path /scratch/scgi;
  gzip on; gzip_types text/plain; gzip_comp_level 5;
  server { listen 127.0.0.1:8080; root /scratch/html; default_type text/plain; }
}
END
