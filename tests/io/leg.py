"""A small model of OpenSim, written by the tests: pelvis, femur, tibia, welded foot, patella."""

# ruff: noqa: E501
from __future__ import annotations

POINT = """<PathPoint name="{name}-P{n}"><socket_parent_frame>{frame}</socket_parent_frame>
<location>{place}</location></PathPoint>"""
WRAP = (
    '<PathWrap name="pathwrap"><wrap_object>{wrap}</wrap_object><method>hybrid</method></PathWrap>'
)
PATH = """<GeometryPath name="{tag}"><PathPointSet><objects>{points}</objects></PathPointSet>
<PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath>"""
BODY = """<Body name="{name}"><mass>{mass}</mass><mass_center>{centre}</mass_center>
<inertia>0.05 0.01 0.05 0 0 0</inertia>
<WrapObjectSet name="wrapobjectset"><objects>{wraps}</objects></WrapObjectSet></Body>"""
JOINT = """<{kind} name="{name}"><socket_parent_frame>p_offset</socket_parent_frame>
<socket_child_frame>c_offset</socket_child_frame><coordinates>{coordinates}</coordinates><frames>
<PhysicalOffsetFrame name="p_offset"><socket_parent>/bodyset/{parent}</socket_parent>
<translation>{there}</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>
<PhysicalOffsetFrame name="c_offset"><socket_parent>/bodyset/{child}</socket_parent>
<translation>{here}</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>
</frames>{more}</{kind}>"""
COORDINATE = """<Coordinate name="{name}"><default_value>{value}</default_value>
<range>{low} {high}</range><locked>{locked}</locked></Coordinate>"""
LINEAR = '<LinearFunction name="function"><coefficients>{a} {b}</coefficients></LinearFunction>'


def path(name, points, wraps=(), tag="path"):
    return PATH.format(
        tag=tag,
        points="".join(
            POINT.format(name=name, n=n, frame=f"/bodyset/{body}", place=place)
            for n, (body, place) in enumerate(points)
        ),
        wraps="".join(WRAP.format(wrap=one) for one in wraps),
    )


def coordinate(name, value=0.0, low=-2.0, high=2.0, locked="false"):
    return COORDINATE.format(name=name, value=value, low=low, high=high, locked=locked)


def axis(name, of, direction, function):
    return (
        f'<TransformAxis name="{name}"><coordinates>{of}</coordinates><axis>{direction}</axis>'
        f"{function}</TransformAxis>"
    )


SPLINE = """<SimmSpline name="function"><x>-0.2 0.3 0.8 1.4 2.1</x>
<y>0.002 0.001 -0.006 -0.004 0.003</y></SimmSpline>"""


def six_axes(names="flex add rot tx ty tz"):
    """Six coordinates in the order of flexion, adduction and rotation."""
    kinds = ["rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3"]
    directions = ["0 0 -1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1"]
    linear = LINEAR.format(a=1, b=0)
    return "".join(axis(*one, linear) for one in zip(kinds, names.split(), directions, strict=True))


def one_axis():
    """Flexion alone, with a sliding contact point."""
    parts = [
        axis("rotation1", "flex", "0 0 -1", LINEAR.format(a=1, b=0)),
        axis("rotation2", "", "1 0 0", '<Constant name="function"><value>0.02</value></Constant>'),
        axis("rotation3", "flex", "0 1 0", LINEAR.format(a=0.1, b=0.01)),
        axis("translation1", "flex", "1 0 0", SPLINE),
        axis("translation2", "", "0 1 0", '<Constant name="function"><value>0</value></Constant>'),
        axis("translation3", "", "0 0 1", '<Constant name="function"><value>0</value></Constant>'),
    ]
    return "".join(parts)


def model(knee="six", version="40500", extra_force="", extra_geometry=""):
    """The model; its knee has six coordinates, or one ("one") that a patella follows."""
    cylinder = """<WrapCylinder name="back"><xyz_body_rotation>0.05 -0.1 0.2</xyz_body_rotation>
<translation>-0.002 -0.4 0.001</translation><quadrant>-x</quadrant><radius>0.02</radius>
<length>0.3</length></WrapCylinder>"""
    sphere = """<WrapSphere name="ball"><xyz_body_rotation>0 0 0</xyz_body_rotation>
<translation>0.004 -0.395
0</translation><quadrant>all</quadrant><radius>0.025</radius></WrapSphere>"""
    bodies = [
        ("pelvis", 10, "0 0 0", ""),
        ("femur_r", 8, "0 -0.17 0", cylinder + sphere),
        ("tibia_r", 3, "0 -0.18 0.01", ""),
        ("foot_r", 1, "0.05 -0.02 0", ""),
        ("patella_r", 0.1, "0 0 0", ""),
    ]
    names = ["flex", "add", "rot", "tx", "ty", "tz"]
    six = knee == "six"
    knee_coordinates = (
        "".join(
            coordinate(one, value)
            for one, value in zip(names, (0.1, 0.02, -0.03, 0.004, -0.003, 0.001), strict=True)
        )
        if six
        else coordinate("flex", 0.1, -0.2, 2.0)
    )
    patella = (
        JOINT.format(
            kind="CustomJoint",
            name="pf_r",
            parent="femur_r",
            child="patella_r",
            coordinates="".join(
                coordinate(f"p_{one}", value)
                for one, value in zip(names, (0, 0, 0, 0.05, 0.01, 0), strict=True)
            ),
            there="0.002 -0.4 0",
            here="0 0 0",
            turn="0 0 0",
            more="<SpatialTransform>"
            + six_axes(" ".join(f"p_{n}" for n in names))
            + "</SpatialTransform>",
        )
        if six
        else JOINT.format(
            kind="PinJoint",
            name="pf_r",
            parent="femur_r",
            child="patella_r",
            coordinates=coordinate("beta"),
            there="0.002 -0.4 0",
            here="-0.05 -0.01 0",
            turn="0 0 0",
            more="",
        )
    )
    coupler = (
        ""
        if six
        else (
            '<CoordinateCouplerConstraint name="pf"><coupled_coordinates_function>'
            + LINEAR.format(a=-0.7, b=0.0).replace(' name="function"', "")
            + "</coupled_coordinates_function><independent_coordinate_names>flex"
            "</independent_coordinate_names><dependent_coordinate_name>beta</dependent_coordinate_name>"
            "<scale_factor>1</scale_factor></CoordinateCouplerConstraint>"
        )
    )
    joints = [
        JOINT.format(
            kind="FreeJoint",
            name="root",
            parent="ground",
            child="pelvis",
            more="",
            coordinates="".join(
                coordinate(f"g{n}", v) for n, v in enumerate((0, 0, 0.1, 0, 0.9, 0))
            ),
            there="0 0 0",
            here="0 0 0",
            turn="0 0 0",
        ).replace("/bodyset/ground", "/ground"),
        JOINT.format(
            kind="BallJoint",
            name="hip_r",
            parent="pelvis",
            child="femur_r",
            more="",
            coordinates="".join(coordinate(f"h{n}", v) for n, v in enumerate((0.1, -0.05, 0.2))),
            there="-0.05 -0.07 0.08",
            here="0 0 0",
            turn="0 0 0",
        ),
        JOINT.format(
            kind="CustomJoint",
            name="knee_r",
            parent="femur_r",
            child="tibia_r",
            coordinates=knee_coordinates,
            there="0.003 -0.4 0.001",
            here="0 0.01 0",
            turn="0 0 0" if six else "0.05 0.02 0",
            more="<SpatialTransform>" + (six_axes() if six else one_axis()) + "</SpatialTransform>",
        ),
        JOINT.format(
            kind="WeldJoint",
            name="ankle_r",
            parent="tibia_r",
            child="foot_r",
            more="",
            coordinates="",
            there="0 -0.4 0",
            here="0 0 0",
            turn="0 0.1 0",
        ),
        patella,
    ]
    forces = [
        f'<Blankevoort1991Ligament name="MCL1">'
        f"{path('MCL1', [('femur_r', '0 -0.39 -0.04'), ('tibia_r', '0 -0.06 -0.03')])}"
        "<linear_stiffness>2500</linear_stiffness><slack_length>0.07</slack_length>"
        "</Blankevoort1991Ligament>",
        f'<Blankevoort1991Ligament name="CAP1">'
        f"{path('CAP1', [('femur_r', '-0.025 -0.37 0.01'), ('tibia_r', '-0.02 -0.05 0.012')], ['back'])}"
        "<linear_stiffness>500</linear_stiffness><slack_length>0.08</slack_length>"
        "<transition_strain>0.05</transition_strain></Blankevoort1991Ligament>",
        f'<Millard2012EquilibriumMuscle name="vasint">'
        f"{path('vasint', [('femur_r', '0.03 -0.2 0'), ('patella_r', '0.01 0.02 0.002')], ['ball'])}"
        "<max_isometric_force>1000</max_isometric_force>"
        "<optimal_fiber_length>0.09</optimal_fiber_length>"
        "<tendon_slack_length>0.11</tendon_slack_length></Millard2012EquilibriumMuscle>",
        f'<Millard2012EquilibriumMuscle name="gasmed">'
        f"{path('gasmed', [('femur_r', '-0.03 -0.36 -0.02'), ('foot_r', '-0.04 0.02 0')], ['back'])}"
        "<max_isometric_force>1500</max_isometric_force>"
        "<optimal_fiber_length>0.06</optimal_fiber_length>"
        "<tendon_slack_length>0.38</tendon_slack_length></Millard2012EquilibriumMuscle>",
        f'<Millard2012EquilibriumMuscle name="glmax">'
        f"{path('glmax', [('pelvis', '-0.1 0 0.05'), ('femur_r', '-0.02 -0.1 0.02')])}"
        "</Millard2012EquilibriumMuscle>",
    ]
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="{version}"><Model name="leg"><gravity>0 -9.80665 0</gravity>
<Ground name="ground"/>
<BodySet name="bodyset"><objects>{
        "".join(BODY.format(name=a, mass=b, centre=c, wraps=d) for a, b, c, d in bodies)
    }</objects></BodySet>
<JointSet name="jointset"><objects>{"".join(joints)}</objects></JointSet>
<ConstraintSet name="constraintset"><objects>{coupler}</objects></ConstraintSet>
<ForceSet name="forceset"><objects>{"".join(forces)}{extra_force}</objects></ForceSet>
<ContactGeometrySet name="contactgeometryset"><objects>{extra_geometry}</objects>
</ContactGeometrySet></Model></OpenSimDocument>
"""
