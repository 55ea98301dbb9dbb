# Owns one server process: $1 its folder, $2 the signal that asks it to stop, $3 how long to
# wait for its end, in steps of 10 ms.
# Reads commands from a pipe. When that pipe closes, its owner is gone: end the server, remove the folder.
folder=$1 stop_signal=$2 ticks_max=$3
server=
# The owner may be gone when we answer; dying of that would skip the cleaning.
trap '' PIPE

# A zombie counts as ended: it holds no port, file or memory any more.
ended() {
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
  case ${stat##*) } in [ZX]*) return 0 ;; esac
  return 1
}

await_end() {
  ticks=0
  until ended "$1"; do
    ticks=$((ticks + 1))
    [ "$ticks" -gt "$ticks_max" ] && return 1
    sleep 0.01
  done
}

children_of() {
  for path in /proc/[0-9]*/stat; do
    read -r stat 2>/dev/null <"$path" || continue
    rest=${stat##*) }
    rest=${rest#* }
    [ "${rest%% *}" = "$1" ] && echo "${stat%% *}"
  done
}

# SIGKILL for the server and all its children, as when the machine loses power. PostgreSQL's children leave the
# process group, so they are found by parent; the parent is halted first so that it cannot start more.
kill_server() {
  [ -n "$server" ] || return 0
  kill -STOP "$server" 2>/dev/null
  children=$(children_of "$server")
  kill -KILL "$server" $children 2>/dev/null
  for pid in "$server" $children; do await_end "$pid"; done
  wait "$server" 2>/dev/null
  server=
}

stop_server() {
  [ -n "$server" ] || return 0
  kill -"$stop_signal" "$server" 2>/dev/null
  await_end "$server"
  kill_server
}

start_server() {
  (trap - PIPE; cd "$folder" && exec sh ./run) </dev/null >>"$folder/server.log" 2>&1 &
  server=$!
  echo "$server" >"$folder/server.pid"
}

# After its guardian was killed, a server is known only by this file; its folder tells it from a reused pid.
adopt_orphan() {
  read -r pid 2>/dev/null <"$folder/server.pid" || return 0
  case $(readlink "/proc/$pid/cwd") in "$folder"*) server=$pid ;; esac
}

finish() {
  trap '' TERM INT HUP
  [ -n "$server" ] || adopt_orphan
  kill_server
  # A killed PostgreSQL leaves one small shared memory segment, named in line 7 of its pid file: key and id.
  segment=$(sed -n '7s/.* //p' "$folder/data/postmaster.pid" 2>/dev/null)
  [ -n "$segment" ] && ipcrm -m "$segment" 2>/dev/null
  rm -rf "$folder"
  exit 0
}
trap finish TERM INT HUP

while read -r command; do
  case $command in
    start) start_server ;;
    stop) stop_server ;;
    kill) kill_server ;;
  esac
  echo "$command $server"
done
finish
