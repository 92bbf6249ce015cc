# Copyright 2026 robot_dynamics_ros contributors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

from __future__ import annotations

import codecs
from math import inf, isnan
from pathlib import Path
import time

import pytest

from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.core.model.urdf_gate import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    parse_numbers,
    parse_xml,
)
from robot_dynamics_ros.core.model.urdf_source import MAX_BYTES, read_source

BODY = (
    '<robot name="r"><!-- note: a colon --><link name="base"/><link name="{name}">'
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    '</inertial></link>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="{name}"/>'
    '<axis xyz="0 1 0"/></joint></robot>'
)
URDF = BODY.format(name='arm')
ACCENT = BODY.format(name='épaule')


def codes(error: UrdfError) -> list[str]:
    return [finding.code for finding in error.findings]


def refused(source: object) -> UrdfError:
    with pytest.raises(UrdfError) as caught:
        read_urdf(source)  # type: ignore[arg-type]
    assert '\n' not in str(caught.value)
    assert caught.value.findings
    return caught.value


@pytest.mark.parametrize(
    'source',
    [
        '\n \t' + URDF,
        '\n<?xml version="1.0"?>\n' + URDF,
        '\ufeff<?xml version="1.0" encoding="utf-8"?>' + URDF,
        '\ufeff\n' + URDF,
        '<?xml version="1.0" encoding="utf-16"?>' + URDF,
        '<?xml version="1.0" encoding="ISO-8859-1"?>' + URDF,
        '<?xml version="1.0" encoding="no-such-encoding"?>' + URDF,
        '<?xml version="1.0"?>\r\n' + URDF.replace('><', '>\r\n<'),
        URDF.replace('<robot', '<robot xmlns="http://www.ros.org"'),
        URDF.replace('<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'),
        URDF.encode(),
        URDF.encode('utf-16'),
        URDF.encode('utf-16-le'),
        URDF.encode('utf-16-be'),
        codecs.BOM_UTF8 + URDF.encode(),
        b'\n<?xml version="1.0" encoding="ascii"?>' + URDF.encode(),
        b'<?xml version="1.0" encoding="utf-16"?>' + URDF.encode(),
    ],
    ids=range(17),
)
def test_text_variants_read_alike(source: str | bytes) -> None:
    description = read_urdf(source)
    assert [link.name for link in description.links] == ['base', 'arm']
    assert [joint.name for joint in description.joints] == ['j']
    assert not [f for f in description.findings if f.severity != 'info']


@pytest.mark.parametrize(
    'source',
    [
        ACCENT,
        '<?xml version="1.0" encoding="latin-1"?>' + ACCENT,
        ACCENT.encode(),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>' + ACCENT).encode('latin-1'),
        ("<?xml version='1.0' encoding='windows-1252' ?>" + ACCENT).encode('cp1252'),
        ACCENT.encode('utf-16'),
    ],
    ids=range(6),
)
def test_names_outside_ascii_survive_every_encoding(source: str | bytes) -> None:
    assert read_urdf(source).links[1].name == 'épaule'


def test_latin_1_without_declaration_is_read_with_a_warning() -> None:
    description = read_urdf(ACCENT.encode('latin-1'))
    assert description.links[1].name == 'épaule'
    assert [f.code for f in description.findings if f.severity == 'warning'] == [
        'encoding_assumed'
    ]


def test_bytes_that_break_their_declared_encoding_are_refused() -> None:
    data = b'<?xml version="1.0" encoding="utf-8"?>' + ACCENT.encode('latin-1')
    assert codes(refused(data)) == ['encoding_wrong']
    for encoding in (b'klingon', b'hex', b'punycode', b'unicode_escape', b'utf_7'):
        data = b'<?xml version="1.0" encoding="' + encoding + b'"?>' + URDF.encode()
        assert 'not known' in str(refused(data))


def test_lone_surrogate_is_refused() -> None:
    assert codes(refused('<robot name="\ud800"/>')) == ['encoding_wrong']


def test_unbound_prefix_is_ignored_and_named() -> None:
    text = '\n' + URDF.replace('<link name="base"/>', '<link name="base"><sensor:camera/></link>')
    finding = next(f for f in read_urdf(text).findings if f.code == 'prefix_unbound')
    assert finding.severity == 'info'
    assert "'sensor' (line 2)" in finding.message


def test_file_reads_as_its_text_does(tmp_path: Path) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_text(URDF)
    for source in (path, str(path)):
        assert read_urdf(source).links[1].name == 'arm'


@pytest.mark.parametrize(
    ('source', 'code', 'text'),
    [
        ('', 'source_empty', 'empty'),
        (' \n\t', 'source_empty', 'empty'),
        (b'', 'source_empty', 'empty'),
        ('/no/such/arm.urdf', 'source_missing', 'no such file'),
        ('robot_description', 'source_missing', 'no such file'),
        (b'/no/such/arm.urdf', 'source_missing', 'not XML'),
        ('package://arm/urdf/arm.urdf', 'source_missing', 'URL'),
        ('nul\0byte', 'source_missing', ''),
        ('x' * 5000, 'source_missing', ''),
        ('/', 'source_missing', 'not a regular file'),
        ('/dev/zero', 'source_missing', 'not a regular file'),
        (3.5, 'source_missing', 'float'),
        (None, 'source_missing', 'NoneType'),
        ('<robot name="r">', 'xml_broken', 'line 1'),
        ('\n\n<robot name="r"><a></b></robot>', 'xml_broken', 'line 3'),
        ('<!-- only a comment -->', 'xml_broken', 'no element'),
        ('<robot name="r">&undefined;</robot>', 'xml_broken', 'undefined entity'),
        ('<sdf version="1.7"/>', 'root_not_robot', '<sdf>'),
    ],
)
def test_what_is_no_urdf_is_refused_in_one_line(source: object, code: str, text: str) -> None:
    error = refused(source)
    assert codes(error) == [code]
    assert text in str(error)


ENTITIES = ''.join(f'<!ENTITY a{n} "' + f'&a{n - 1};' * 10 + '">' for n in range(1, 31))
BOMB = f'<!DOCTYPE r [<!ENTITY a0 "lol">{ENTITIES}]><robot name="r">&a30;</robot>'


@pytest.mark.parametrize(
    'text',
    [
        '<!DOCTYPE robot><robot name="r"/>',
        '<?xml version="1.0"?>\n<!-- x --><!DOCTYPE robot SYSTEM "file:///etc/passwd"><robot/>',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r">&x;</robot>',
        '<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><robot name="r"/>',
        '<!DOCTYPE r [<!ENTITY a "' + 'a' * 50_000 + '">]><robot>' + '&a;' * 50_000 + '</robot>',
        BOMB,
    ],
    ids=['plain', 'external', 'xxe', 'parameter entity', 'quadratic', 'billion laughs'],
)
@pytest.mark.parametrize('encode', [str, str.encode, lambda text: text.encode('utf-16')])
def test_doctype_is_refused_at_once(text: str, encode: object) -> None:
    source = encode(text)  # type: ignore[operator]
    refused(source)
    start = time.perf_counter()
    error = refused(source)
    # The issue asks for 100 ms; the bound leaves room for a loaded machine, expansion would take
    # minutes.
    assert time.perf_counter() - start < 0.5
    assert codes(error) == ['xml_doctype']


def test_size_is_capped(tmp_path: Path) -> None:
    path = tmp_path / 'large.urdf'
    with path.open('wb') as stream:
        stream.truncate(10 * MAX_BYTES)
    for source in (path, '<robot>' + ' ' * MAX_BYTES, b'<robot>' + b' ' * MAX_BYTES):
        assert codes(refused(source)) == ['source_too_large']
    assert codes(refused('<robot>' + '<a/>' * MAX_ELEMENTS)) == ['source_too_large']


def test_many_faults_take_linear_time() -> None:
    start = time.perf_counter()
    assert len(codes(refused('<robot name="r">' + '<link/>' * 20_000 + '</robot>'))) == 20_000
    # Well below a second in peace; a quadratic search for places would take minutes.
    assert time.perf_counter() - start < 20.0


def test_depth_of_elements_is_capped() -> None:
    assert parse_xml('<a>' * MAX_DEPTH + '</a>' * MAX_DEPTH).tag == 'a'
    assert codes(refused('<a>' * 100_000)) == ['xml_too_deep']


@pytest.mark.parametrize(
    'text',
    ['2,5', '1_0', '0x10', 'nan', 'inf', '-inf', 'Infinity', '-1.57.', '0.07,', '1e', '.', '+', '']
    + ['1 2', '٣', '１', '1e999', '1d0', '--1', '1\u00a0', '0' * 1000, '${pi/2}', 'true'],
)
def test_number_that_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match='number'):
        parse_numbers(text, 1)
    urdf = URDF.replace('<axis', f'<dynamics damping="{text}"/><axis')
    error = refused(urdf)
    assert codes(error) == ['number_wrong']
    assert "/robot[@name='r']/joint[@name='j']/dynamics/@damping (line 1)" in str(error)


def test_plain_numbers_are_read() -> None:
    text = ' 1 -2.\t+.5\n1e-3 -4.5E+2\r 007 '
    assert parse_numbers(text, 6) == (1.0, -2.0, 0.5, 1e-3, -450.0, 7.0)


@pytest.mark.parametrize('rpy', ['0 0', '0 0 0 0', '0,0,0', '0 0 -1.57.'])
def test_wrong_vector_is_refused_with_its_path(rpy: str) -> None:
    error = refused(URDF.replace('<axis', f'<origin rpy="{rpy}"/><axis'))
    assert codes(error) == ['number_wrong']
    assert "joint[@name='j']/origin/@rpy" in str(error)


def test_absurd_magnitudes_are_refused_but_not_as_limits() -> None:
    assert 'fits no robot' in str(refused(URDF.replace('mass value="1"', 'mass value="1e300"')))
    assert 'fits no robot' in str(refused(URDF.replace('<axis', '<origin xyz="1e16 0 0"/><axis')))
    limit = '<limit effort="5" velocity="1.8e308" lower="-1.7e308" upper="1.7e308"/>'
    assert 'too large' in str(refused(URDF.replace('<axis', f'{limit}<axis')))
    text = URDF.replace('<axis', f'{limit}<axis').replace('1.8e308', '1.7e308')
    description = read_urdf(text.replace('continuous', 'revolute'))
    limits = description.joints[0].limits
    assert (limits.lower, limits.upper, limits.effort) == (-inf, inf, 5.0)
    assert isnan(limits.velocity)
    assert [finding.code for finding in description.findings] == ['limit_not_stated']


def test_wrong_number_in_a_shape_is_an_error_or_if_lenient_a_warning() -> None:
    shape = '<visual/><visual><geometry><box size="0.07, 1 1"/></geometry></visual>'
    text = URDF.replace('<link name="base"/>', f'<link name="base">{shape}</link>')
    assert "link[@name='base']/visual[2]/geometry/box/@size" in str(refused(text))
    findings = read_urdf(text, strict=False).findings
    assert [f.code for f in findings if f.severity == 'warning'] == ['number_wrong']


def test_reader_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    read_urdf(
        URDF.replace('<axis', '<axes/><axis').replace(
            '</robot>', '<gazebo/><ros2_control/><transmission/></robot>'
        )
    )
    assert capfd.readouterr() == ('', '')


def test_source_keeps_line_ends_and_byte_order_mark() -> None:
    source = read_source(codecs.BOM_UTF8 + b'<robot>\r\n</robot>')
    assert source.text == '<robot>\r\n</robot>'
    assert source.byte_order_mark == codecs.BOM_UTF8
