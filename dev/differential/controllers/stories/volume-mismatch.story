# A volume that a claim names, but that does not fit.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### too small, of another mode, of another class
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: mismatch-a, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
wait persistentvolumes/mismatch-a status.phase = Available
create
  kind: PersistentVolumeClaim
  metadata: {name: large}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 2Gi}}
    storageClassName: ${ns}
    volumeName: mismatch-a
  ---
  kind: PersistentVolumeClaim
  metadata: {name: block}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
    volumeName: mismatch-a
    volumeMode: Block
  ---
  kind: PersistentVolumeClaim
  metadata: {name: classy}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: other
    volumeName: mismatch-a
settle
