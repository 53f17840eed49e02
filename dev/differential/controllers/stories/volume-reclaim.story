# What becomes of a volume whose claim goes, by its policy.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### a volume that is to be deleted
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: reclaim-delete, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    csi: {driver: example.com, volumeHandle: a}
    persistentVolumeReclaimPolicy: Delete
    storageClassName: ${ns}
wait persistentvolumes/reclaim-delete status.phase = Available
create
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
wait persistentvolumeclaims/data status.phase = Bound

### its claim goes
delete persistentvolumeclaims/data
wait persistentvolumes/reclaim-delete status.phase = Released

### kept for another
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: reclaim-keep, labels: {size: "2Gi"}}
  spec:
    capacity: {storage: 2Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
wait persistentvolumes/reclaim-keep status.phase = Available
create
  kind: PersistentVolumeClaim
  metadata: {name: more}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 2Gi}}
    storageClassName: ${ns}
wait persistentvolumeclaims/more status.phase = Bound
delete persistentvolumeclaims/more
wait persistentvolumes/reclaim-keep status.phase = Released

### free again
patch persistentvolumes/reclaim-keep {spec: {claimRef: null}}
wait persistentvolumes/reclaim-keep status.phase = Available
