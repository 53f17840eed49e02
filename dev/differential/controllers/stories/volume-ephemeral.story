# Generic ephemeral volumes: their claims, and one that stands in the way.
Show: persistentvolumes, persistentvolumeclaims, pods, storageclasses, events
Counts: vary
Quiet: 2s

### a pod with its own claim
create
  kind: Node
  metadata: {name: ephemeral-n1, labels: {story: ephemeral}}
create
  kind: Pod
  metadata: {name: web}
  spec:
    nodeName: ephemeral-n1
    volumes:
    - name: scratch
      ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}, annotations: {c: d}}, spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}}}
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1"}]
wait persistentvolumeclaims/web-scratch metadata.uid

### somebody else's claim
create
  kind: PersistentVolumeClaim
  metadata: {name: other-scratch}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: ""
create
  kind: Pod
  metadata: {name: other}
  spec:
    nodeName: ephemeral-n1
    volumes:
    - name: scratch
      ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}}}
    tolerations: [{operator: Exists}]
    containers: [{name: main, image: "a:1"}]
settle

### it goes out of the way
delete persistentvolumeclaims/other-scratch
wait persistentvolumeclaims/other-scratch metadata.ownerReferences

### the pods go
delete pods/web {gracePeriodSeconds: 0}
wait persistentvolumeclaims/web-scratch gone
