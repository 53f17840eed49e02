import { checkDnsLabel, type ObjectMeta } from '@skerry/api'

const podNameUse = 'this is used in Pod names and hostnames'

/** Names that are allowed and that make no good hostname. */
export function warningsOfName({ name = '' }: ObjectMeta, use = podNameUse): string[] {
  const faults = checkDnsLabel(name)
  if (faults.length === 0) return []
  const advice = 'which can result in surprising behavior; a DNS label is recommended'
  return [`metadata.name: ${use}, ${advice}: [${faults.join(' ')}]`]
}
