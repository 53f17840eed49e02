import { isFields } from './story-api.ts'

/**
 * The defaults that the API server writes into every pod and template, as JSON; the scripts of differential/
 * compare them.
 */
const defaults: Readonly<Record<string, string>> = Object.freeze({
  terminationMessagePath: '"/dev/termination-log"',
  terminationMessagePolicy: '"File"',
  imagePullPolicy: '"IfNotPresent"',
  dnsPolicy: '"ClusterFirst"',
  schedulerName: '"default-scheduler"',
  securityContext: '{}',
  terminationGracePeriodSeconds: '30',
  serviceAccount: '"default"',
  serviceAccountName: '"default"',
  enableServiceLinks: 'true',
  preemptionPolicy: '"PreemptLowerPriority"',
  resources: '{}',
  priority: '0',
  // The server keeps the field if nobody has set it.
  lastProbeTime: 'null',
})
/** Fields of a pod's status that stories write themselves. */
const written = new Set(['containerStatuses', 'startTime', 'qosClass'])
const tokenMount = /^kube-api-access-[a-z0-9]{5}$/
const defaultTolerations = /^node\.kubernetes\.io\/(not-ready|unreachable)$/

/** Returns the value without the fields that the server sets on pods. */
export function withoutServerDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutServerDefaults)
  if (!isFields(value)) return value
  const result: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    if (written.has(key)) continue
    if (defaults[key] !== undefined && JSON.stringify(field) === defaults[key]) continue
    const kept = withoutServerDefaults(
      isList(key, field) ? field.filter((one) => !isAdded(one)) : field,
    )
    if (isList(key, kept) && kept.length === 0) continue
    result[key] = kept
  }
  return result
}

const lists = new Set(['volumes', 'volumeMounts', 'tolerations'])

function isList(key: string, field: unknown): field is readonly unknown[] {
  return lists.has(key) && Array.isArray(field)
}

function isAdded(item: unknown): boolean {
  if (!isFields(item)) return false
  const { name, key, tolerationSeconds } = item
  if (typeof name === 'string' && tokenMount.test(name)) return true
  return typeof key === 'string' && defaultTolerations.test(key) && tolerationSeconds === 300
}
