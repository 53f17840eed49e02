# A CSI volume is attached to the node whose pod needs it, and detached when none does.
Show: volumeattachments, nodes, events
Counts: vary
Quiet: 1500ms

### a pod on a node
create
  kind: Node
  metadata:
    name: attach-a
    annotations: {volumes.kubernetes.io/controller-managed-attach-detach: "true"}
    labels: {attach: a}
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: attach-volume}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    storageClassName: ""
    csi: {driver: attach.example.com, volumeHandle: handle-1}
    claimRef: {namespace: "${ns}", name: data}
create
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    storageClassName: ""
    volumeName: attach-volume
    resources: {requests: {storage: 1Gi}}
wait persistentvolumeclaims/data status.phase = Bound
create
  kind: Pod
  metadata: {name: web, labels: {app: web}}
  spec:
    nodeName: attach-a
    tolerations: [{operator: Exists}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
    containers: [{name: main, image: "a:1"}]
wait volumeattachments/csi-5b062e448e6dfd0d82f36b8301f07a11c036047e2db996a2e9527799b17d5582 spec.attacher = attach.example.com

### the driver has attached it
patch volumeattachments/csi-5b062e448e6dfd0d82f36b8301f07a11c036047e2db996a2e9527799b17d5582/status {status: {attached: true}}
wait nodes/attach-a status.volumesAttached.0.name = kubernetes.io/csi/attach.example.com^handle-1
patch nodes/attach-a/status {status: {volumesInUse: ["kubernetes.io/csi/attach.example.com^handle-1"]}}
run web

### a pod on another node cannot have it
create
  kind: Node
  metadata:
    name: attach-b
    annotations: {volumes.kubernetes.io/controller-managed-attach-detach: "true"}
    labels: {attach: b}
create
  kind: Pod
  metadata: {name: other, labels: {app: other}}
  spec:
    nodeName: attach-b
    tolerations: [{operator: Exists}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
    containers: [{name: main, image: "a:1"}]
settle

### the first pod is gone, its node still has the volume mounted
delete pods/web
gone web
settle

### the node has unmounted it
patch nodes/attach-a/status {status: {volumesInUse: null}}
wait volumeattachments/csi-5b062e448e6dfd0d82f36b8301f07a11c036047e2db996a2e9527799b17d5582 gone
wait volumeattachments/csi-9ee9f5a67162123f531865b33e0e38ba7fcd75c30d0dc2cfec96d45e695e6a86 spec.nodeName = attach-b

### the driver fails, and then does not
patch volumeattachments/csi-9ee9f5a67162123f531865b33e0e38ba7fcd75c30d0dc2cfec96d45e695e6a86/status {status: {attached: false, attachError: {message: no room on the bus}}}
settle
patch volumeattachments/csi-9ee9f5a67162123f531865b33e0e38ba7fcd75c30d0dc2cfec96d45e695e6a86/status {status: {attached: true, attachError: null}}
wait nodes/attach-b status.volumesAttached.0.name

### all is taken away
delete pods/other
gone other
wait volumeattachments/csi-9ee9f5a67162123f531865b33e0e38ba7fcd75c30d0dc2cfec96d45e695e6a86 gone
