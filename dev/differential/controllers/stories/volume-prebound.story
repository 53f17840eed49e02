# Volumes and claims that name each other beforehand.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### a claim names a volume
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: prebound-a, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
wait persistentvolumes/prebound-a status.phase = Available
create
  kind: PersistentVolumeClaim
  metadata: {name: named}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
    volumeName: prebound-a
wait persistentvolumeclaims/named status.phase = Bound

### a volume names a claim
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: prebound-b, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
    claimRef: {namespace: "${ns}", name: kept}
settle
create
  kind: PersistentVolumeClaim
  metadata: {name: kept}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
wait persistentvolumeclaims/kept status.phase = Bound

### a claim names one that is taken
create
  kind: PersistentVolumeClaim
  metadata: {name: late}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
    volumeName: prebound-a
settle

### the volume of a claim is deleted
delete persistentvolumes/prebound-b
patch persistentvolumes/prebound-b {metadata: {finalizers: null}}
wait persistentvolumeclaims/kept status.phase = Lost
