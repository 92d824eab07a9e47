#!/bin/sh
# Installs a build as services of systemd, or upgrades to it:
#
#   npm run package -- /tmp/review
#   sudo PUBLIC_URL=https://review.example.com deploy/install.sh /tmp/review
#
# Settings, secrets and data of an earlier run stay as they are, and so does the release before this one, for a rollback.
# DESTDIR is the folder under which all files are placed, instead of /. Then no user is created and nothing is started.
set -eu
umask 022

fail() {
  echo "install: $1" >&2
  exit 1
}

build=${1:-}
destination=${DESTDIR:-}
here=$(cd "$(dirname "$0")" && pwd)
[ -n "$build" ] || fail 'name the folder of the build: deploy/install.sh <folder>'
for file in server/dist/main.js worker/dist/main.js console/index.html; do
  [ -f "$build/$file" ] || fail "$build/$file does not exist; make a build with: npm run package -- <folder>"
done
[ -n "$destination" ] || [ "$(id -u)" = 0 ] || fail 'run this as root, or set DESTDIR'
node=${NODE:-$(command -v node || true)}
[ -x "$node" ] || fail 'Node.js was not found; install version 24, or set NODE to its path'
"$node" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 24 ? 0 : 1)' ||
  fail "$node is $("$node" --version); version 24 or later is needed; set NODE to its path"
settings=$destination/etc/review
[ -f "$settings/server.env" ] || [ -n "${PUBLIC_URL:-}" ] ||
  fail 'set PUBLIC_URL to the address that callers use, such as https://review.example.com'

if [ -z "$destination" ] && ! getent passwd review >/dev/null; then
  useradd --system --user-group --no-create-home --home-dir /var/lib/review --shell /usr/sbin/nologin review
fi

# Only the service may read the files that follow; the programs are public.
own() {
  if [ -z "$destination" ]; then chown "$1" "$2"; fi
}
secret() {
  "$node" -p 'require("node:crypto").randomBytes(32).toString("hex")'
}

version=$("$node" -p 'JSON.parse(fs.readFileSync(process.argv[1])).version' "$build/server/package.json")
release=$version-$(date -u +%Y%m%dT%H%M%SZ)
releases=$destination/opt/review/releases
mkdir -p "$releases" "$destination/opt/review/bin" "$destination/usr/local/bin"
install -m 0755 "$node" "$destination/opt/review/bin/node.new"
mv -f "$destination/opt/review/bin/node.new" "$destination/opt/review/bin/node"
rm -rf "$releases/$release.partial"
mkdir "$releases/$release.partial"
cp -R "$build/server" "$build/worker" "$build/console" "$releases/$release.partial/"
chmod -R u=rwX,go=rX "$releases/$release.partial"
rm -rf "${releases:?}/$release"
mv "$releases/$release.partial" "$releases/$release"

mkdir -p "$settings"
chmod 0750 "$settings"
own root:review "$settings"
if [ ! -f "$settings/server.env" ]; then
  (
    umask 077
    worker_token=$(secret)
    cat >"$settings/worker.env" <<END
NODE_ENV=production
SERVER_URL=http://127.0.0.1:3000
WORKER_TOKEN=$worker_token
WORKER_NAME=$(uname -n)
WORK_DIR=/var/cache/review-worker
END
    cat >"$settings/server.env.new" <<END
NODE_ENV=production
PUBLIC_URL=$PUBLIC_URL
HOST=127.0.0.1
PORT=3000
TRUST_PROXY=1
DATA_DIR=/var/lib/review
CONSOLE_DIR=/opt/review/current/console
SECRET_KEY=$(secret)
WORKER_TOKEN=$worker_token
END
    mv "$settings/server.env.new" "$settings/server.env"
  )
fi
for file in server.env worker.env; do
  own review:review "$settings/$file"
  chmod 0600 "$settings/$file"
done

cat >"$destination/usr/local/bin/review" <<'END'
#!/bin/sh
# The command line of the service, as its user and with the settings of the server.
export REVIEW_ENV_FILE="${REVIEW_ENV_FILE:-/etc/review/server.env}"
set -- /opt/review/bin/node /opt/review/current/server/dist/commands/main.js "$@"
[ "$(id -u)" != 0 ] || set -- setpriv --reuid=review --regid=review --clear-groups "$@"
exec "$@"
END
chmod 0755 "$destination/usr/local/bin/review"

mkdir -p "$destination/etc/systemd/system"
install -m 0644 "$here/systemd/review-server.service" "$here/systemd/review-worker.service" "$destination/etc/systemd/system/"

previous=$(readlink "$destination/opt/review/current" || true)
ln -s "releases/$release" "$destination/opt/review/current.new"
mv -T "$destination/opt/review/current.new" "$destination/opt/review/current"
for old in "$releases"/*; do
  case "releases/${old##*/}" in
  "releases/$release" | "$previous") ;;
  *) rm -rf "$old" ;;
  esac
done

if [ -z "$destination" ] && [ -d /run/systemd/system ]; then
  # The commands need a database, which a server creates only some time after its start.
  install -d -m 0700 -o review -g review /var/lib/review
  /usr/local/bin/review migrate
  systemctl daemon-reload
  systemctl enable review-server.service review-worker.service
  # The server first: workers of an earlier release work with a newer server, but not the other way round.
  systemctl restart review-server.service
  systemctl restart review-worker.service
fi
echo "install: release $release is in $destination/opt/review/current; its settings are in $settings"
