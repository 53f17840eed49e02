# A claim asks for more.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### a bound claim
create
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: "${ns}"}
  provisioner: example.com/out
  allowVolumeExpansion: true
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: expansion-a, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    csi: {driver: example.com, volumeHandle: a}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
  ---
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: expansion-b, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
create
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
    volumeName: expansion-a
  ---
  kind: PersistentVolumeClaim
  metadata: {name: local}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
    volumeName: expansion-b
wait persistentvolumeclaims/data status.phase = Bound
wait persistentvolumeclaims/local status.phase = Bound

### more of a driver's volume
patch persistentvolumeclaims/data {spec: {resources: {requests: {storage: 2Gi}}}}

### more of a directory
patch persistentvolumeclaims/local {spec: {resources: {requests: {storage: 2Gi}}}}
