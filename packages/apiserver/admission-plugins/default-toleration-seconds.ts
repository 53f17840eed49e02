import type { Pod, Toleration } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import { apiServerBounds } from '../limits-table.ts'

const taints: readonly string[] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const { tolerationSeconds } = apiServerBounds.defaultTolerationSeconds

/** A pod stays five minutes on an unhealthy node, unless it specifies otherwise. */
export function createDefaultTolerationSeconds(): AdmissionPlugin {
  return {
    name: 'DefaultTolerationSeconds',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.pods) &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    async admit({ object }) {
      const spec = object && typed<Pod>(object).spec
      if (!spec) return
      const present = spec.tolerations ?? []
      const missing = taints.filter((key) => !present.some((one) => tolerates(one, key)))
      if (missing.length === 0) return
      const added = missing.map((key): Toleration => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds,
      }))
      spec.tolerations = [...present, ...added]
    },
  }
}

function tolerates({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === 'NoExecute')
}
