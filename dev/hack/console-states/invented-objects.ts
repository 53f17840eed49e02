/** Objects that the cluster of the script does not have, so that each page has something hostile to show. */

const time = '2026-11-29T09:00:00Z'
const metadata = { name: 'odd', namespace: 'shop', uid: 'odd', creationTimestamp: time }
const condition = { type: 'Ready', status: 'False', reason: 'Odd', message: 'odd' }

const steps = ['Failed', 'Running', 'Waiting', 'Done'].map((state, at) => ({
  name: `EnsureOdd${at}`,
  machine: '10.0.0.11',
  state,
  attempt: 2,
  startTime: time,
  message: 'odd',
  output: 'odd',
  findings: ['odd'],
}))

/** The items of lists, by the last word of their paths. */
export const inventedLists: Readonly<Record<string, readonly object[]>> = Object.freeze({
  virtualclusters: [
    {
      metadata,
      status: {
        clusterName: 'branch-7-odd',
        nodes: { total: 2, ready: 1 },
        problems: ['odd'],
        conditions: [condition],
      },
    },
  ],
  virtualclustersets: [
    {
      metadata,
      spec: { source: { label: { key: 'branch' } } },
      status: { virtualClusters: 1, problems: ['odd'] },
    },
  ],
  certificatesigningrequests: [
    { metadata, spec: { signerName: 'kubernetes.io/kube-apiserver-client' } },
  ],
  edgejobclusters: [
    {
      metadata: { ...metadata, labels: { 'hub.skerry.io/edge-job': 'pull-1' } },
      spec: { edgeCluster: 'branch-7' },
      status: {
        phase: 'Failed',
        message: 'odd',
        machines: ['Failed', 'WaitingForConfirmation', 'Done'].map((phase, at) => ({
          address: `10.0.0.1${at}`,
          role: 'Node',
          phase,
          message: 'odd',
        })),
      },
    },
  ],
  events: [
    {
      metadata,
      type: 'Warning',
      reason: 'Odd',
      message: 'odd',
      count: 3,
      lastTimestamp: time,
      involvedObject: { kind: 'Pod', name: 'till', namespace: 'shop' },
    },
  ],
})

/** The status of an edge cluster whose first step has failed. */
export const inventedEdgeStatus = Object.freeze({
  phase: 'Failed',
  clusterName: 'branch-7',
  capacity: 'odd',
  machines: [
    { address: '10.0.0.11', role: 'Master', node: 'odd', unknownHostKey: 'odd' },
    { address: '10.0.0.12', role: 'Node', node: 'odd' },
  ],
  steps,
})

/** Single answers, by their paths. */
export const inventedAnswers: Readonly<Record<string, object>> = Object.freeze({
  '/hub/v1/registrations': {
    registrations: [
      {
        request: 'odd',
        cluster: 'odd',
        address: '10.0.0.9:1',
        version: 'odd',
        id: 'odd',
        fingerprint: 'sha256:00',
        since: time,
        waitsFor: 'odd',
        warnings: ['odd'],
      },
    ],
  },
  '/hub/v1/users': {
    users: [{ id: 'odd', name: 'odd', groups: ['odd', 'others'], expires: null }],
  },
})
