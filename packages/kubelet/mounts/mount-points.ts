/**
 * Reads /proc/self/mountinfo. Returns the mount points in the order in which the kernel lists them (proc(5): the
 * fifth field, escaped).
 */
export function mountPointsIn(mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const point = line.split(' ')[4]
    return point === undefined ? [] : [unescaped(point)]
  })
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
