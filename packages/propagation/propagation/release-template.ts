import type { AnyObject } from '@skerry/api'
import { ifThere } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { bindingName } from '@skerry/karmada-kinds'
import { bindingScopeOf } from './binding-scope.ts'
import { claimOf, releasePatch, type PolicyScope } from './claim.ts'
import type { FleetContext } from './fleet-context.ts'

export interface Release {
  readonly template: AnyObject
  readonly scope: PolicyScope
}

/**
 * Removes a policy's claim from an object and its binding. The propagated objects stay, and another policy
 * may claim the object. The binding comes first: without the object's claim, no reconcile would return to it.
 */
export async function releaseTemplate(
  { template, scope }: Release,
  { templates }: FleetContext,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const claim = claimOf(template)
  if (claim?.scope !== scope) return
  const { namespace, name = '' } = template.metadata
  const within = namespace ? { namespace } : {}
  const patch = { metadata: releasePatch(scope) }
  const { resource } = bindingScopeOf(namespace)
  const bindingKey = { ...within, name: bindingName(template.kind, name) }
  const binding = context.informer(resource).get(bindingKey)
  if (binding?.metadata.labels?.[scope.idLabel] === claim.id) {
    await ifThere(context.client(resource).patch({ ...bindingKey, type: 'merge', patch }, signal))
  }
  const client = await templates.client(template, signal)
  const { resourceVersion } = template.metadata
  const exact = { metadata: { ...patch.metadata, resourceVersion } }
  await ifThere(client.patch({ ...within, name, type: 'merge', patch: exact }, signal))
}
