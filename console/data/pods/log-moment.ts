/** The time before a line of a log, as its runtime wrote it (RFC 3339). Pure. */

const moment = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/**
 * Returns a text by which moments are compared, to the nanosecond; undefined for anything but a moment. Runtimes leave
 * zeros at the end of a fraction out, and write the zone of their node, so that their own texts have another order.
 */
export function momentKey(time: string): string | undefined {
  const [, second = '', fraction = '', zone = ''] = moment.exec(time) ?? []
  if (second === '') return undefined
  const utc = zone === 'Z' ? second : secondInUtc(`${second}${zone}`)
  return utc === undefined ? undefined : `${utc}.${fraction.padEnd(9, '0')}`
}

function secondInUtc(time: string): string | undefined {
  const atMs = Date.parse(time)
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString().slice(0, 19)
}
