import { checkDnsLabel, type ObjectMeta } from '@skerry/api'

const podNameUse = 'this is used in Pod names and hostnames'

/** Warns of names that are allowed but unsuitable as hostnames. */
export function warningsOfName({ name = '' }: ObjectMeta, use = podNameUse): string[] {
  const faults = checkDnsLabel(name)
  if (faults.length === 0) return []
  const advice = 'which can result in surprising behavior; a DNS label is recommended'
  return [`metadata.name: ${use}, ${advice}: [${faults.join(' ')}]`]
}
