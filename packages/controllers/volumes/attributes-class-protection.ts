import type { ControllerContext, ControllerDefinition } from '@skerry/controller-runtime'
import { watch } from '@skerry/controller-runtime'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'

const finalizer = 'kubernetes.io/vac-protection'

/** Protects a VolumeAttributesClass from deletion while a claim or a volume names it. */
export const attributesClassProtectionController: ControllerDefinition = {
  name: 'volumeattributesclass-protection-controller',
  watches: [
    watch(resources.volumeAttributesClasses, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
    watch(resources.persistentVolumeClaims, {
      keysOf: ({ object, old }) =>
        [
          object.spec?.volumeAttributesClassName,
          old?.spec?.volumeAttributesClassName,
          old?.status?.currentVolumeAttributesClassName,
        ].flatMap((name) => (name ? [name] : [])),
    }),
    watch(resources.persistentVolumes, {
      keysOf: ({ object, old }) =>
        [object.spec?.volumeAttributesClassName, old?.spec?.volumeAttributesClassName].flatMap(
          (name) => (name ? [name] : []),
        ),
    }),
  ],
  async reconcile(key, context, signal) {
    const found = context.informer(resources.volumeAttributesClasses).get(parseKey(key))
    if (found === undefined) return
    const { finalizers = [], deletionTimestamp } = found.metadata
    const isGoing = deletionTimestamp !== undefined
    const isHeld = finalizers.includes(finalizer)
    if (isGoing ? !isHeld || isUsed(key, context) : isHeld) return
    const next = isGoing
      ? finalizers.filter((each) => each !== finalizer)
      : [...finalizers, finalizer]
    const metadata = { ...found.metadata, finalizers: next }
    const client = context.client(resources.volumeAttributesClasses)
    await ignoreNotFound(client.update({ ...found, metadata }, signal))
  },
}

function isUsed(name: string, context: ControllerContext): boolean {
  const claims = context.informer(resources.persistentVolumeClaims).list()
  const volumes = context.informer(resources.persistentVolumes).list()
  return (
    claims.some(
      ({ spec, status }) =>
        spec?.volumeAttributesClassName === name ||
        status?.currentVolumeAttributesClassName === name,
    ) || volumes.some(({ spec }) => spec?.volumeAttributesClassName === name)
  )
}
