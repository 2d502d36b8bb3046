"""Prints what the SAM transform makes of a template, as CloudFormation would get it: sorted JSON.

usage: expand.py TEMPLATE [NAME=VALUE of a parameter]...
"""

import json
import os
import sys
from unittest import mock

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


def main(path, *parameters):
    with open(path, encoding="utf-8") as file:
        template = yaml_parse(file)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # The transform wants code that has been uploaded.
            resource["Properties"]["CodeUri"] = "s3://bucket/" + os.path.basename(resource["Properties"]["CodeUri"])
    policies = mock.Mock(**{"load.return_value": {}})  # names of managed policies: the template uses none
    expanded = transform(template, dict(p.split("=", 1) for p in parameters), policies)
    json.dump(expanded, sys.stdout, indent=1, sort_keys=True)
    print()


main(*sys.argv[1:])
