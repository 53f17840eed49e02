# Classes: none, one that nobody knows, one whose provisioner is elsewhere, one that waits for a pod.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### no class
create
  kind: PersistentVolumeClaim
  metadata: {name: none}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ""
settle

### unknown
create
  kind: PersistentVolumeClaim
  metadata: {name: unknown}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: classes-unknown
settle

### a provisioner elsewhere
create
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: classes-out}
  provisioner: example.com/out
create
  kind: PersistentVolumeClaim
  metadata: {name: outside}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: classes-out
settle

### one that waits for a pod
create
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: classes-late}
  provisioner: example.com/late
  volumeBindingMode: WaitForFirstConsumer
create
  kind: PersistentVolumeClaim
  metadata: {name: late}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: classes-late
settle

### a pod wants it
create
  kind: Pod
  metadata: {name: web}
  spec:
    volumes: [{name: data, persistentVolumeClaim: {claimName: late}}]
    containers: [{name: main, image: "a:1"}]
pass 16s
settle

### no provisioner
create
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: classes-static}
  provisioner: kubernetes.io/no-provisioner
create
  kind: PersistentVolumeClaim
  metadata: {name: static}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: classes-static
settle
