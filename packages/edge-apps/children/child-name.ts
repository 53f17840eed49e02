import { checkDnsLabel, checkDnsSubdomain } from '@skerry/api'
import { edgeAppsBounds } from '../limits-table.ts'

const { statefulSetLength } = edgeAppsBounds.childName

/** Returns the reason why the workload of a group cannot have this name, if there is one. */
export function nameFault(kind: string, name: string): string | undefined {
  if (kind !== 'StatefulSet') return checkDnsSubdomain(name)[0]
  const [fault] = checkDnsLabel(name)
  if (fault !== undefined || name.length <= statefulSetLength) return fault
  return `must be no more than ${statefulSetLength} characters: its pods have a label with the name and a hash`
}
