import {
  ageOf,
  type CSIDriver,
  type CSINode,
  type Column,
  type DeviceTaint,
  type DeviceTaintRule,
  type StorageClass,
  type VolumeAttachment,
  type VolumeAttributesClass,
} from '@skerry/api'
import { ageCell, columnsOf, integer, joined, nameCell, orText, type CellOf } from './column.ts'

const storageClass = columnsOf<StorageClass>([
  {
    ...nameCell,
    cell: ({ metadata }) => {
      const annotations = metadata.annotations ?? {}
      const isDefault = defaultClassAnnotations().some((key) => annotations[key] === 'true')
      return isDefault ? `${metadata.name} (default)` : (metadata.name ?? '')
    },
  },
  { name: 'Provisioner', cell: ({ provisioner }) => provisioner },
  { name: 'ReclaimPolicy', cell: ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete' },
  { name: 'VolumeBindingMode', cell: ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate' },
  { name: 'AllowVolumeExpansion', cell: (object) => object.allowVolumeExpansion ?? false },
  ageCell,
])

const csiDriver = columnsOf<CSIDriver>([
  nameCell,
  flag('AttachRequired', ({ spec }) => spec.attachRequired ?? true),
  flag('PodInfoOnMount', ({ spec }) => spec.podInfoOnMount),
  flag('StorageCapacity', ({ spec }) => spec.storageCapacity),
  {
    name: 'TokenRequests',
    cell: ({ spec }) =>
      spec.tokenRequests ? joined(spec.tokenRequests.map((one) => one.audience)) : '<unset>',
  },
  flag('RequiresRepublish', ({ spec }) => spec.requiresRepublish),
  { name: 'Modes', cell: ({ spec }) => orText(joined(spec.volumeLifecycleModes), '<none>') },
  ageCell,
])

const volumeAttachment = columnsOf<VolumeAttachment>([
  nameCell,
  { name: 'Attacher', format: 'name', cell: ({ spec }) => spec.attacher },
  { name: 'PV', cell: ({ spec }) => spec.source.persistentVolumeName ?? '' },
  { name: 'Node', cell: ({ spec }) => spec.nodeName },
  flag('Attached', ({ status }) => status?.attached),
  ageCell,
])

const deviceTaintRule = columnsOf<DeviceTaintRule>([
  nameCell,
  { name: 'Key', cell: (rule) => taintOf(rule).key ?? '' },
  { name: 'Value', cell: (rule) => taintOf(rule).value ?? '' },
  { name: 'Effect', cell: (rule) => taintOf(rule).effect ?? '' },
  {
    name: 'TimeAdded',
    cell: (rule, nowMs) => {
      const { timeAdded } = taintOf(rule)
      return timeAdded === undefined ? '' : ageOf(timeAdded, nowMs)
    },
  },
  ageCell,
])

export const storageColumns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  'storage.k8s.io/StorageClass': storageClass,
  'storage.k8s.io/CSIDriver': csiDriver,
  'storage.k8s.io/VolumeAttachment': volumeAttachment,
  'storage.k8s.io/CSINode': columnsOf<CSINode>([
    nameCell,
    integer('Drivers', ({ spec }) => spec.drivers?.length ?? 0),
    ageCell,
  ]),
  'storage.k8s.io/VolumeAttributesClass': columnsOf<VolumeAttributesClass>([
    nameCell,
    { name: 'DriverName', cell: ({ driverName }) => driverName },
    ageCell,
  ]),
  'resource.k8s.io/DeviceTaintRule': deviceTaintRule,
})

function taintOf({ spec }: DeviceTaintRule): Partial<DeviceTaint> {
  // The type is open; stored objects were decoded against that definition.
  return (spec.taint ?? {}) as Partial<DeviceTaint>
}

function defaultClassAnnotations(): string[] {
  return [
    'storageclass.kubernetes.io/is-default-class',
    'storageclass.beta.kubernetes.io/is-default-class',
  ]
}

function flag<T>(name: string, cell: (object: T) => boolean | undefined): CellOf<T> {
  return { name, type: 'boolean', cell: (object) => cell(object) ?? false }
}
