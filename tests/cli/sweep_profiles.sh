#!/usr/bin/env bash
# Each profile of the shipped Snakefile plans the jobs of a sweep (--dry-run), where Snakemake and the plugins that the profile names are installed.
# sweep_profiles.sh SNAKEFILE
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
command -v snakemake > /dev/null || { echo "skipped: snakemake is not installed"; exit 77; }
tools=$(cd "$(dirname "${1:?usage: sweep_profiles.sh SNAKEFILE}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-profiles.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache
cd "$work"
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
mkdir volume
printf '[sweep]\nseeds = [1]\n[[load]]\nbench = { io_size = "1M" }\n' | tee sweep.toml > volume/sweep.toml
major=$(snakemake --version | cut -d. -f1)
profiles=(local)
python=$(sed -n '1s/^#! *//p' "$(command -v snakemake)") # the one that sees the plugins
has() { $python -c "import snakemake_$1" 2> /dev/null; }
if [[ $major -lt 8 ]] || has executor_plugin_slurm; then profiles+=(slurm); fi
if [[ $major -ge 8 ]] && has executor_plugin_kubernetes && has storage_plugin_fs; then profiles+=(kubernetes); fi
for profile in "${profiles[@]}"; do
    more=()
    [[ $profile != kubernetes ]] || more=(--default-storage-prefix "$work/volume") # in place of the volume's folder in the jobs
    snakemake -s "$tools/Snakefile" --profile "$tools/profiles/$profile" --dry-run "${more[@]}" \
        --config sweep=sweep.toml shards=3 flashlab="$FLASHLAB" > "$profile.log" 2>&1 || die "profile $profile: $(tail -n 5 "$profile.log")"
    grep -Eq '^shard +3( |$)' "$profile.log" || die "profile $profile plans no 3 shards: $(tail -n 20 "$profile.log")"
done
echo "Snakemake $major: ${profiles[*]}"
