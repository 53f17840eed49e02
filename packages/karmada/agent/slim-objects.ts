import type { Container, Node, ObjectMeta, Pod } from '@skerry/api'
import { groupLabel } from '../virtual/virtual-group.ts'

/** All that summaries and groups read: the rest of a thousand pods need not be kept. */
export function slimPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const group = spec?.nodeSelector?.[groupLabel]
  return {
    apiVersion,
    kind,
    metadata: withoutLabels(slimMetadata(metadata)),
    spec: {
      ...(spec?.nodeName ? { nodeName: spec.nodeName } : {}),
      ...(group ? { nodeSelector: { [groupLabel]: group } } : {}),
      ...(spec?.overhead ? { overhead: spec.overhead } : {}),
      containers: (spec?.containers ?? []).map(slimContainer),
      initContainers: (spec?.initContainers ?? []).map(slimContainer),
    },
    status: status?.phase ? { phase: status.phase } : {},
  }
}

/** With its labels, by which groups select it. */
export function slimNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { allocatable, conditions } = status ?? {}
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    status: { ...(allocatable ? { allocatable } : {}), ...(conditions ? { conditions } : {}) },
  }
}

function slimContainer({ name, resources: asked, restartPolicy }: Container): Container {
  return {
    name,
    ...(asked ? { resources: asked } : {}),
    ...(restartPolicy ? { restartPolicy } : {}),
  }
}

function slimMetadata({ annotations: _a, managedFields: _m, ...rest }: ObjectMeta): ObjectMeta {
  return rest
}

function withoutLabels({ labels: _l, ...rest }: ObjectMeta): ObjectMeta {
  return rest
}
