# Only ordinals from the partition on are updated; one below that is deleted comes back as it was.

### three run
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 3
    updateStrategy: {rollingUpdate: {partition: 2}}
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### a new image
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
evolve

### the first is deleted
delete pods/web-0
evolve

### no partition
patch statefulsets/web {spec: {updateStrategy: {rollingUpdate: {partition: 0}}}}
evolve
