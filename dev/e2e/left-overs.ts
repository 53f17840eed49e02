import type { TestMachine } from '@skerry/testing'

/**
 * Lists files, units, mounts, links, routes, tables of rules and running programs; logs and the login's own are left out.
 * The programs of a boot end by themselves, some of them after sshd has started, so the script waits for the boot's end.
 */
const script = `
systemctl is-system-running --wait >/dev/null || true
find / /var/lib /var/lib/skerry -xdev \\( -path '/var/log/*' -o -path '/var/tmp/systemd-*' -o -path '/tmp/systemd-private-*' -o -path '/var/lib/systemd/*' \\
  -o -path '/root/.*' -o -path '/home/*/.*' -o -path '/var/cache/ldconfig/*' \\) -prune -o -printf 'file %p\\n'
systemctl list-units --all --plain --no-legend 'skerry*' 'containerd*' | while read -r unit _; do echo "unit $unit"; done
while read -r _ point _; do echo "mount $point"; done < /proc/mounts
ip -o link | while read -r _ name _; do echo "link \${name%%[@:]*}"; done
ip route | while read -r route; do echo "route $route"; done
nft list tables
for each in /proc/[0-9]*; do
  [ -e "$each/exe" ] || continue
  program=$(readlink "$each/exe") || continue # It has just ended.
  echo "program $program"
done
`

/** Returns what a machine has, sorted: two lists are equal if nothing was left behind. */
export async function leftOvers(machine: Pick<TestMachine, 'ask'>): Promise<string[]> {
  const text = await machine.ask(['sh', '-c', script])
  const lines = new Set(text.split('\n').filter((line) => !line.includes('/run/user/')))
  return [...lines].toSorted()
}

/** Returns each difference between two lists: things that are gone, and things that are new. */
export function changedBetween(before: readonly string[], after: readonly string[]): string[] {
  const [known, found] = [new Set(before), new Set(after)]
  const gone = before.filter((line) => !found.has(line)).map((line) => `gone: ${line}`)
  return [...gone, ...after.filter((line) => !known.has(line)).map((line) => `new: ${line}`)]
}
