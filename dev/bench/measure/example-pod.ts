import type { Pod } from '@skerry/api'

/** The image that every node of ours has from the start. */
export const benchImage = 'localhost/skerry/pause:1'

/** A pod as a Deployment makes it, with the usual trimmings, so that its size is a real one. */
export function examplePod(name: string, nodeName?: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'bench', 'app.kubernetes.io/part-of': 'bench', tier: 'front' },
      annotations: { 'example.com/commit': 'a3f1c9' },
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: benchImage,
          imagePullPolicy: 'Never',
          env: [
            { name: 'MODE', value: 'bench' },
            { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          ],
          resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { memory: '64Mi' } },
        },
      ],
    },
  }
}

/** Returns the status that a kubelet reports for such a pod. */
export function runningStatus(ip: string, now: string): Pod['status'] {
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: now })
  return {
    phase: 'Running',
    hostIP: '10.0.0.1',
    podIP: ip,
    podIPs: [{ ip }],
    startTime: now,
    qosClass: 'Burstable',
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(condition),
    containerStatuses: [
      {
        name: 'main',
        image: benchImage,
        imageID: `sha256:${'0'.repeat(64)}`,
        containerID: `containerd://${'0'.repeat(64)}`,
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      },
    ],
  }
}
