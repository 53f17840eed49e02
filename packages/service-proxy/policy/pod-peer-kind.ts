import type { AnyObject, Column, Kind, Schema } from '@skerry/api'
import { podPeerKind, podPeers, reduceToPeer } from './pod-peer.ts'

const schemaName = 'io.skerry.node.v1alpha1.PodPeer'
const text: Schema = { type: 'string' }

/**
 * Returns PodPeer for serving in addition to the built-in kinds, whose definitions it refers to:
 * the stored pods, shown as peers. It can be listed and watched, so that a node needs no right to
 * the pods.
 */
export function servedPodPeers(builtin: readonly Kind[]): Kind {
  const { group, version, resource } = podPeers
  return {
    group,
    version,
    kind: podPeerKind,
    resource,
    singular: 'podpeer',
    listKind: `${podPeerKind}List`,
    isNamespaced: true,
    shortNames: [],
    categories: [],
    verbs: ['list', 'watch'],
    subresources: [],
    schemaName,
    schemas: { ...builtin[0]?.schemas, ...schemas },
    storageGroup: '',
    storageVersion: 'v1',
    selectableFields: [],
    columns,
    strategy: { onRead: reduceToPeer, hasGeneration: false },
  }
}

const columns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  textColumn('Address', ({ address }) => address),
  textColumn('Node', ({ nodeName }) => nodeName),
]

function textColumn(name: string, of: (object: AnyObject) => unknown): Column {
  const cell = (object: AnyObject): string => {
    const value = of(object)
    return typeof value === 'string' ? value : ''
  }
  const format = name === 'Name' ? 'name' : ''
  return { name, type: 'string', format, description: '', priority: 0, cell }
}

const schemas: Kind['schemas'] = Object.freeze({
  [schemaName]: {
    type: 'object',
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', default: {} },
      nodeName: text,
      address: text,
      ports: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: text, protocol: text, port: { type: 'integer', format: 'int32' } },
        },
      },
    },
  },
})
