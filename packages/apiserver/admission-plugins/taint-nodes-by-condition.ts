import type { Node } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'

const notReady = Object.freeze({ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' })

/** A new node gets no pods before it has reported that it is ready. */
export function createTaintNodesByCondition(): AdmissionPlugin {
  return {
    name: 'TaintNodesByCondition',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.nodes) && subresource === '' && operation === 'CREATE',
    async admit({ object }) {
      if (!object) return
      const node = typed<Node>(object)
      const taints = node.spec?.taints ?? []
      const isThere = taints.some(
        ({ key, effect }) => key === notReady.key && effect === notReady.effect,
      )
      if (!isThere) node.spec = { ...node.spec, taints: [...taints, { ...notReady }] }
    },
  }
}
