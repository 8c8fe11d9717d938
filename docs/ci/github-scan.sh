#!/usr/bin/env bash
# The step of action.yml. Inputs come in the environment, never pasted into the script.
set -euo pipefail
mkdir -p "$REPORT"
options=(--policy "$POLICY")
[[ -z ${BASE:-} ]] || options+=(--base "$BASE")
[[ -z ${WRITTEN:-} ]] || options+=(--written "$WRITTEN")
[[ -z ${FINGERPRINTS:-} ]] || options+=(--fingerprints "$FINGERPRINTS")
code=0
"$VACANT" scan "$DISK" "${options[@]}" --format sarif -o "$REPORT/vacant.sarif" \
  --also "json=$REPORT/vacant.json" --also "html=$REPORT/vacant.html" || code=$?
case $code in
  0) verdict=vacant ;;
  1) verdict=residue-or-secret
     [[ ! -f $REPORT/vacant.json ]] || verdict=$(sed -n 's/^ *"verdict": "\([a-z-]*\)",\{0,1\}$/\1/p' "$REPORT/vacant.json" | head -1) ;;
  3) verdict=not-proven ;;
  *) echo "::error::vacant scan failed with exit code $code"; exit "$code" ;;
esac
{ echo "verdict=$verdict"; echo "sarif=$REPORT/vacant.sarif"; } >> "${GITHUB_OUTPUT:-/dev/null}"
(( code == 0 )) || echo "::error title=vacant::verdict: $verdict (see $REPORT/vacant.html)"
exit "$code"
