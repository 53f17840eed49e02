# OnDelete: a pod is updated when somebody deletes it.

### two run
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    updateStrategy: {type: OnDelete}
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### a new image
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### one is deleted
delete pods/web-1
evolve
