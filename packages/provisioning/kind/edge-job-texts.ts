import type { KindTexts } from '@skerry/api'
import { configurationTexts } from './role-options.ts'

const job = 'io.skerry.hub.v1alpha1.EdgeJob'
const part = 'io.skerry.hub.v1alpha1.EdgeJobCluster'

/** The texts of the fields of both kinds, for kubectl explain. */
export const edgeJobTexts: KindTexts = Object.freeze({
  [job]: {
    description:
      'One change of the machines of many EdgeClusters of its namespace: exactly one of upgrade, configure and pullImages.',
    fields: { spec: 'The change that is wanted.', status: 'The sum of its results.' },
  },
  [`${job}Spec`]: {
    description: 'The change that is wanted. Its purpose may not be changed, its amounts may.',
    fields: {
      upgrade: 'Another version of the program.',
      configure: 'Other options of the roles.',
      pullImages: 'Images that nodes pull before something needs them.',
      clusters: 'The EdgeClusters, by name or by label.',
      machines: 'Some machines of each cluster. If omitted, all.',
      machinesAtOnce:
        'The machines of one cluster that are changed at the same time, after its master; default 1.',
      clustersAtOnce: 'The clusters that are changed at the same time; default 5.',
      failureTolerance:
        'How many machines may fail, or which part of all, as 10%; default 0. If more do, no further one begins.',
      timeoutSeconds:
        'How long a machine may take to be Ready again, by default 300; in a job of pullImages, how long one image may take, by default 1800.',
      requireConfirmation:
        'Whether each machine waits, before it is changed, until a person confirms.',
      checks: 'The checks before anything is changed; each is done unless it is false.',
      retry: 'How often a step is tried.',
      paused:
        'While true, no further machine begins. One that is being changed is finished. The annotation hub.skerry.io/pause does the same.',
    },
  },
  [`${job}Upgrade`]: {
    description: 'Another version of the program: exactly one of version and package.',
    fields: {
      version:
        'A version that the hub holds, such as 0.2.0; skerry edge-cluster versions lists them.',
      package: 'An offline package of the hub: its program, system packages and images.',
      images: 'Images that are pulled before the program is changed.',
      secretRef: 'A Secret of type kubernetes.io/dockerconfigjson.',
    },
  },
  [`${job}Package`]: {
    description: 'An offline package that the hub has.',
    fields: {
      digest: 'sha256: and the digest of its manifest, as skerry package create prints it.',
      publicKey: 'The Ed25519 public key in PEM whose owner must have signed it.',
    },
  },
  ...configurationTexts(job),
  [`${job}ImagePull`]: {
    description: 'Images to pull.',
    fields: {
      images: 'The names of images.',
      secretRef: 'A Secret of type kubernetes.io/dockerconfigjson.',
    },
  },
  [`${job}ClusterChoice`]: {
    description: 'EdgeClusters of the namespace: exactly one of both.',
    fields: { names: 'Their names.', labelSelector: 'Their labels, when the job begins.' },
  },
  [`${job}MachineChoice`]: {
    description: 'Some machines of each cluster.',
    fields: {
      role: 'Master or Node.',
      addresses: 'The addresses as the EdgeCluster has them.',
      labelSelector: 'The labels that the block of a machine in the EdgeCluster must have.',
    },
  },
  [`${job}Checks`]: {
    description: 'Checks before anything is changed.',
    fields: {
      disk: 'Free space for the program and for a backup of the store, or for images.',
      memory: 'Memory for a second program while the first one runs.',
      versionSkew: 'One minor version at a time, and no node newer than its master.',
      health: 'The node is Ready.',
    },
  },
  [`${job}Retry`]: {
    description: 'How often a step is tried.',
    fields: { attempts: 'Attempts before a step has failed; default 3.' },
  },
  [`${part}`]: {
    description:
      'The work of an EdgeJob on one cluster. The hub writes it; steer the EdgeJob instead.',
    fields: { spec: 'The part of the job.', status: 'The machines and their steps.' },
  },
})
