#!/usr/bin/env bash
# Measures the cost of the monitor: prints the instructions per message without and with it as a Markdown table. Takes a
# few minutes.
# Usage: tools/monitor_cost.sh [PERF_TOOL]     default: build/tools/perf_tool
set -euo pipefail
perf_tool=${1-$(dirname "${BASH_SOURCE[0]}")/../build/tools/perf_tool}
few=2000
many=22000

command -v valgrind > /dev/null || { echo "monitor_cost: needs valgrind" >&2; exit 69; }
[[ -x $perf_tool ]] || { echo "monitor_cost: cannot execute $perf_tool" >&2; exit 66; }

# Valgrind counts "rep movsb" as one instruction per byte, so large copies would hide everything else.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824

# Prints the instructions of a whole run; arguments are passed to perf_tool.
instructions() {
  local output
  output=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$perf_tool" --runs 1 monitor "$@" 2>&1) ||
    { echo "$output" >&2; return 1; }
  awk '/Collected :/ { print $4 }' <<< "$output"
}

# Prints the instructions per message: the difference between two runs, so start-up and shutdown cancel out.
per_message() {
  local least most
  least=$(instructions --messages "$few" "$@")
  most=$(instructions --messages "$many" "$@")
  awk -v least="$least" -v most="$most" -v count=$((many - few)) 'BEGIN { printf "%.1f", (most - least) / count }'
}

echo "| sockets | transport | bytes | batch size | off | on | difference |"
echo "|---|---|---:|---:|---:|---:|---:|"
for pattern in pubsub router; do
  for transport in tcp ipc inproc; do
    for shape in "64 64" "1024 64" "8192 16" "65536 2" "64 1"; do
      read -r size batch <<< "$shape"
      workload=(--pattern "$pattern" --transport "$transport" --size "$size" --batch "$batch")
      off=$(per_message --monitor off "${workload[@]}")
      on=$(per_message --monitor on "${workload[@]}")
      difference=$(awk -v off="$off" -v on="$on" 'BEGIN { printf "%+.2f", 100 * (on - off) / off }')
      echo "| $pattern | $transport | $size | $batch | $off | $on | $difference % |"
    done
  done
done
