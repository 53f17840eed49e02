/** The oldest etcd whose reports of progress and whose snapshots can be trusted. */
export const oldestVersion = '3.5.13'

/** Reads the first line of `etcd --version`, `etcdutl version` or `etcdctl version`. */
export function readVersion(output: string): string | undefined {
  return /(?:^|\n)(?:etcd|etcdutl|etcdctl) version: (\d+\.\d+\.\d+)/i.exec(output)?.[1]
}

/** Compares versions such as 3.5.16. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [found, wanted] = [version, oldest].map((text) => text.split('.').map(Number))
  for (const at of [0, 1, 2]) {
    const difference = (found?.[at] ?? 0) - (wanted?.[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}
