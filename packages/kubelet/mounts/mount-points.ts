/**
 * Reads /proc/self/mountinfo. Returns the mount points in the order in which the kernel lists them (proc(5): the
 * fifth field, escaped).
 */
export function mountPointsIn(mountinfo: string): string[] {
  return mountsIn(mountinfo).map(({ point }) => point)
}

export interface MountEntry {
  readonly point: string
  /** True if mounts below it are passed on to copies of it, e.g. from a container to the node. */
  readonly isShared: boolean
}

/** Returns the mounts in the same order. The optional fields come after the sixth, up to a dash. */
export function mountsIn(mountinfo: string): MountEntry[] {
  return mountinfo.split('\n').flatMap((line) => {
    const fields = line.split(' ')
    const point = fields[4]
    if (point === undefined) return []
    const optional = fields.slice(6, fields.indexOf('-', 6))
    const isShared = optional.some((field) => field.startsWith('shared:'))
    return [{ point: unescaped(point), isShared }]
  })
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
