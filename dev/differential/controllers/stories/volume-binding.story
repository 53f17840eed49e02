# A claim gets the smallest volume that is enough, and keeps it.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### two volumes
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: binding-small, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
  ---
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: binding-big, labels: {size: "5Gi"}}
  spec:
    capacity: {storage: 5Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
wait persistentvolumes/binding-big status.phase = Available

### a claim
create
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 500Mi}}
    storageClassName: ${ns}
wait persistentvolumeclaims/data status.phase = Bound

### a claim that nothing satisfies
create
  kind: PersistentVolumeClaim
  metadata: {name: huge}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 50Gi}}
    storageClassName: ${ns}
settle

### the first claim goes
delete persistentvolumeclaims/data
wait persistentvolumes/binding-small status.phase = Released
