import {
  isStatusError,
  type APIService,
  type CustomResourceDefinition,
  type GroupResource,
  type Kind,
} from '@skerry/api'
import { asError, type Logger } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { listTyped } from '../contract/typed-objects.ts'
import {
  automanagedLabel,
  planRegistration,
  wantedApiServices,
  type CustomGroupVersion,
  type RegistrationStep,
} from './auto-register.ts'

export const apiServices: GroupResource = Object.freeze({
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
})
export const definitions: GroupResource = Object.freeze({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
})

/** Updates the APIServices of this server's own groups; those of built-in ones at the start only. */
export async function registerLocalApis(
  { objects, kinds, log }: { objects: Objects; kinds: () => readonly Kind[]; log: Logger },
  isStart: boolean,
): Promise<void> {
  const wanted = wantedApiServices(kinds(), customGroupVersions(objects))
  const stored = listTyped<APIService>(objects, apiServices)
  const steps = planRegistration(wanted, stored, isStart)
  await Promise.all(steps.map((step) => carryOut(step, objects, log)))
}

function customGroupVersions(objects: Objects): CustomGroupVersion[] {
  return listTyped<CustomResourceDefinition>(objects, definitions).flatMap(({ spec }) =>
    spec.versions
      .filter(({ served }) => served)
      .map(({ name }) => ({ group: spec.group, version: name })),
  )
}

async function carryOut(step: RegistrationStep, objects: Objects, log: Logger): Promise<void> {
  try {
    switch (step.type) {
      case 'create':
        await objects.create(apiServices, step.object)
        return
      case 'update':
        await objects.update(apiServices, { namespace: '', name: step.name }, (object) => {
          object['spec'] = step.wanted.spec
          const labels = { ...object.metadata.labels, [automanagedLabel]: step.wanted.automanaged }
          object.metadata.labels = labels
        })
        return
      case 'delete':
        await objects.delete(apiServices, '', step.name, { preconditions: { uid: step.uid } })
    }
  } catch (error) {
    // Another writer was faster; the next look sees its changes.
    const isPassing = ['AlreadyExists', 'NotFound', 'Conflict'] as const
    if (isPassing.some((reason) => isStatusError(error, reason))) return
    log.info('APIService not registered', {
      type: step.type,
      error: asError(error),
    })
  }
}
