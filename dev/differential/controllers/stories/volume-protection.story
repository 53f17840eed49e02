# What is in use is not deleted before it is free.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### a pod uses a claim
create
  kind: Node
  metadata: {name: protection-n1, labels: {story: protection}}
create
  apiVersion: v1
  kind: PersistentVolume
  metadata: {name: protection-a, labels: {size: "1Gi"}}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /data}
    persistentVolumeReclaimPolicy: Retain
    storageClassName: ${ns}
wait persistentvolumes/protection-a status.phase = Available
create
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ${ns}
wait persistentvolumeclaims/data status.phase = Bound
create
  kind: Pod
  metadata: {name: web}
  spec:
    nodeName: protection-n1
    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1"}]
run

### both are deleted
delete persistentvolumeclaims/data
delete persistentvolumes/protection-a

### the pod ends, and is removed
succeed web
delete pods/web {gracePeriodSeconds: 0}
wait persistentvolumeclaims/data gone
wait persistentvolumes/protection-a gone
